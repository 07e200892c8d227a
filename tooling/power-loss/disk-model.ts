/** What the system writes as a whole. */
const PAGE = 4_096;

/** Whether something that may happen happens. */
export type Luck = () => boolean;

/** The number of an open file; empty for what was there before. */
type Handle = string;

class ModelledFile {
  cached = Buffer.alloc(0);
  /** Pages that the disk has. */
  readonly #pages = new Map<number, Buffer>();
  #size = 0;
  /** Pages that the disk may not have, with the handle that they were written by last. */
  readonly #dirty = new Map<number, Handle>();

  write(bytes: Buffer, at: number, by: Handle): void {
    const size = Math.max(this.cached.length, at + bytes.length);
    const next = Buffer.alloc(size);
    this.cached.copy(next);
    bytes.copy(next, at);
    this.cached = next;
    for (let page = Math.floor(at / PAGE); page * PAGE < at + bytes.length; page++) this.#dirty.set(page, by);
  }

  /** What is cut off may be on the disk until the next sync. */
  truncate(size: number, by: Handle): void {
    for (let page = Math.floor(size / PAGE); page * PAGE < this.cached.length; page++) this.#dirty.set(page, by);
    const next = Buffer.alloc(size);
    this.cached.copy(next);
    this.cached = next;
  }

  /**
   * Begins a sync. Returns what ends it: when it has failed, the system takes for clean what may not be on the disk. What another
   * handle has written stays to be synced: Linux tells that handle of the failure too, which strace, that fails one call, does not.
   */
  sync(by: Handle): (good: boolean, luck: Luck) => void {
    const pages = [...this.#dirty].map(([page, writer]) => ({ page, writer, bytes: this.#page(page) }));
    const size = this.cached.length;
    this.#dirty.clear();
    return (good, luck) => {
      for (const { page, writer, bytes } of pages) {
        if (good || luck()) this.#pages.set(page, bytes);
        else if (writer !== by && !this.#dirty.has(page)) this.#dirty.set(page, writer);
      }
      if (good) this.#size = size;
    };
  }

  /** What is there after a power loss. A file is not longer than what was written of it without a gap. */
  lose(luck: Luck): Buffer {
    for (const page of this.#dirty.keys()) {
      if (!luck()) continue;
      this.#pages.set(page, this.#page(page));
      this.#dirty.delete(page);
    }
    if (luck()) {
      let page = Math.floor(this.#size / PAGE);
      while (page * PAGE < this.cached.length && !this.#dirty.has(page)) page++;
      this.#size = page * PAGE < this.cached.length ? Math.max(this.#size, page * PAGE) : this.cached.length;
    }
    const left = Buffer.alloc(this.#size);
    for (const [page, bytes] of this.#pages) if (page * PAGE < this.#size) bytes.copy(left, page * PAGE);
    return left;
  }

  copy(): ModelledFile {
    const copy = new ModelledFile();
    copy.cached = this.cached;
    for (const [page, bytes] of this.#pages) copy.#pages.set(page, bytes);
    for (const [page, by] of this.#dirty) copy.#dirty.set(page, by);
    copy.#size = this.#size;
    return copy;
  }

  #page(page: number): Buffer {
    const bytes = Buffer.alloc(PAGE);
    this.cached.subarray(page * PAGE, (page + 1) * PAGE).copy(bytes);
    return bytes;
  }
}

/**
 * What a disk has of a folder whose files are written through the system's cache, when a sync may fail once and the next one
 * says that all is well: the cache has what was written, the disk has not.
 */
export class DiskModel {
  readonly #luck: Luck;
  #names = new Map<string, ModelledFile>();
  #durable = new Map<string, ModelledFile>();
  #renamed = false;

  constructor(luck: Luck) {
    this.#luck = luck;
  }

  /** Opens a file, which is made when there is none. */
  make(name: string): ModelledFile {
    let file = this.#names.get(name);
    if (file === undefined) {
      file = new ModelledFile();
      this.#names.set(name, file);
      this.#renamed = true;
    }
    return file;
  }

  file(name: string): ModelledFile | undefined {
    return this.#names.get(name);
  }

  rename(from: string, to: string): void {
    const file = this.#names.get(from);
    if (file === undefined) return;
    this.#names.delete(from);
    this.#names.set(to, file);
    this.#renamed = true;
  }

  unlink(name: string): void {
    if (this.#names.delete(name)) this.#renamed = true;
  }

  /** Begins a sync of the folder. */
  sync(): (good: boolean, luck: Luck) => void {
    if (!this.#renamed) return () => {};
    const names = new Map(this.#names);
    this.#renamed = false;
    return (good, luck) => {
      if (good || luck()) this.#durable = names;
    };
  }

  /** The files that are there after a power loss at this moment. */
  afterPowerLoss(luck: Luck = this.#luck): ReadonlyMap<string, Buffer> {
    const names = this.#renamed && luck() ? this.#names : this.#durable;
    return new Map([...names].map(([name, file]) => [name, file.copy().lose(luck)]));
  }
}
