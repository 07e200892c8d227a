import type { DatabaseSync, StatementSync } from "node:sqlite";
import { fstatSync, statfsSync, statSync } from "node:fs";
import { LOG_BYTES } from "./connection.ts";
import { FileFault } from "./file-fault.ts";
import type { OpenedFile } from "./open-or-create.ts";

/** What the log may outgrow its size by while it is brought into the file. */
const MARGIN_BYTES = 4 * 1024 * 1024;

/** What an open file may still need of its disk to be emptied. */
interface Need {
  readonly disk: number;
  /** For the growth of the file and of its log, and the margin. */
  readonly bytes: number;
  /** Of the log, behind its end: from before it was begun anew, or of a write that failed. */
  readonly spare: number;
  /** Pages of the file that hold nothing: new data takes these, and none of the disk. */
  readonly unused: number;
}

/** Of all files of this process: each counts on the room that is free, and they get it once. */
const needs = new Map<Room, Need>();

/** The room that an open file needs, until it is disposed. */
export class Room implements Disposable {
  #db: DatabaseSync | undefined;
  #sizes: StatementSync | undefined;

  /**
   * Why there is room only for what makes room. To delete something takes room too, in the log, and to bring the log into the
   * file takes some there: a disk that new data had filled to the last page would never be emptied again.
   */
  want(file: OpenedFile<unknown>): FileFault | undefined {
    const { path } = file;
    let disk: ReturnType<typeof statfsSync>;
    let need: Need;
    try {
      disk = statfsSync(path);
      need = this.#needOf(file);
    } catch {
      // Why the file cannot be looked at is told with what is written to it.
      return undefined;
    }
    needs.set(this, need);
    let bytes = 0;
    let free = disk.bavail * disk.bsize;
    let size = disk.blocks * disk.bsize;
    for (const each of needs.values()) {
      if (each.disk !== need.disk) continue;
      bytes += each.bytes;
      free += each.spare;
      size -= each.unused;
    }
    // A small disk could hold nothing else; a file that had half of it and is empty again does not give it back. Some file systems,
    // of no fixed size, say 0, and nothing is kept of them.
    const kept = Math.min(bytes, size / 2);
    if (free >= kept) return undefined;
    // No figures: they change from one message to the next, and who is told once for each reason would be told of all.
    return new FileFault(path, "full", { cause: new Error("what is left of it is kept for what makes room") });
  }

  [Symbol.dispose](): void {
    needs.delete(this);
  }

  #needOf({ db, path, log, logEnd }: OpenedFile<unknown>): Need {
    const { pages, unused } = this.#sizesOf(db);
    const { size, dev } = statSync(path);
    const ahead = Math.max(LOG_BYTES - logEnd.bytes, 0);
    const spare = Math.min(Math.max(fstatSync(log).size - logEnd.bytes, 0), ahead);
    const growth = Math.max(pages - size, 0) + ahead;
    return { disk: dev, bytes: growth + Math.max(MARGIN_BYTES - unused, 0), spare, unused };
  }

  #sizesOf(db: DatabaseSync): { readonly pages: number; readonly unused: number } {
    // Another one since the file was opened again.
    if (this.#db !== db) this.#sizes = undefined;
    this.#db = db;
    this.#sizes ??= db.prepare(SIZES);
    return this.#sizes.get() as { readonly pages: number; readonly unused: number };
  }
}

const SIZES = `
  SELECT page_count * page_size AS pages, freelist_count * page_size AS unused
  FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()`;
