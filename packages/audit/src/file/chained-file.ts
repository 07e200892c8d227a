import { type FileHandle, open, rename, stat } from "node:fs/promises";
import type { AuditEvent } from "../event.ts";
import { obstacleAt, syncFolder } from "@bridge/file/internal";
import { type Beginning, GENESIS, type Link, seal } from "./record.ts";
import { deleteBeyond, rotatedFiles, rotatedName } from "./rotated-files.ts";
import { readTail } from "./tail.ts";
import { firstSeq } from "./verify.ts";
import { writeTailAgain } from "./write-tail-again.ts";

const OWNER_ONLY = 0o600;
/** What is written in one go. */
const MAX_WRITE_BYTES = 1024 * 1024;

export interface ChainedFileOptions {
  readonly path: string;
  /** A file that would become larger is full; a single record may be larger. */
  readonly maxBytes: number;
  /** Full files that stay. */
  readonly keep: number;
  /** With it, hashes are HMACs. */
  readonly hmacKey?: string | undefined;
}

/** What was wrong with the end of a file when it was opened. */
export interface Finding {
  /** Bytes of a line that was not written to its end; they are cut off. */
  readonly torn: number;
  /** False when the last record was changed, or has been written with another key. */
  readonly intact: boolean;
  /** True when the last record has no HMAC although there is a key: it was set since, or somebody wrote the records anew. */
  readonly plain: boolean;
}

/** The file was moved or deleted; another one is in its place; its end was cut off. */
export type Disturbance = "gone" | "replaced" | "cut";

interface Opened {
  readonly size: number;
  readonly head: Link;
  readonly before: number;
  readonly found: Link | undefined;
  readonly finding: Finding;
}

/** The current file of a chain, open. After an error it is of no use any more: close it, and open it again. */
export class ChainedFile {
  readonly finding: Finding;
  /** The last record that was there when it was opened; `undefined` when there was none. */
  readonly found: Link | undefined;
  readonly #options: ChainedFileOptions;
  #handle: FileHandle;
  #size: number;
  #head: Link;
  #before: number;

  private constructor(options: ChainedFileOptions, handle: FileHandle, { size, head, before, found, finding }: Opened) {
    this.#options = options;
    this.#handle = handle;
    this.#size = size;
    this.#head = head;
    this.#before = before;
    this.found = found;
    this.finding = finding;
  }

  /** Opens the file to go on where its chain ends; where it is new or empty, after `last`, else after the full files. */
  static async open(options: ChainedFileOptions, last?: Link): Promise<ChainedFile> {
    const { path, hmacKey } = options;
    const obstacle = obstacleAt(path);
    if (obstacle !== undefined) throw obstacle;
    const handle = await openOwn(path, "a+");
    try {
      const { link, intact, plain, size, torn } = await readTail(handle, path, hmacKey);
      if (torn > 0) await handle.truncate(size);
      if (size === 0) syncFolder(path);
      else await writeTailAgain(path, size);
      const head = link ?? last ?? (await headOfFullFiles(options));
      const before = link === undefined ? head.seq : (await firstSeq(path)) - 1;
      return new ChainedFile(options, handle, { size, head, before, found: link, finding: { torn, intact, plain } });
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** The last record. */
  get head(): Link {
    return this.#head;
  }

  /** The number of the last record in the files before it. */
  get before(): number {
    return this.#before;
  }

  /** Writes the events behind one another, and begins new files as they are full. Not durable before {@link sync}. */
  async append(events: Iterable<AuditEvent>): Promise<void> {
    const { maxBytes, hmacKey } = this.#options;
    let head = this.#head;
    let lines: string[] = [];
    let bytes = 0;
    const flush = async (): Promise<void> => {
      if (bytes === 0) return;
      await this.#handle.appendFile(lines.join(""));
      this.#size += bytes;
      this.#head = head;
      lines = [];
      bytes = 0;
    };
    for (const event of events) {
      let sealed = seal(event, head, hmacKey, this.#size + bytes === 0 ? beginningAfter(head) : undefined);
      const length = Buffer.byteLength(sealed.line) + 1;
      const isFull = this.#size + bytes > 0 && this.#size + bytes + length > maxBytes;
      if (isFull || bytes + length > MAX_WRITE_BYTES) await flush();
      if (isFull) {
        await this.#rotate();
        sealed = seal(event, head, hmacKey, beginningAfter(head));
      }
      lines.push(sealed.line, "\n");
      bytes += Buffer.byteLength(sealed.line) + 1;
      head = sealed.link;
    }
    await flush();
  }

  async sync(): Promise<void> {
    await this.#handle.datasync();
  }

  /** What somebody has done to the file since it was opened; `undefined` when it is as it was left. */
  async disturbance(): Promise<Disturbance | undefined> {
    const [there, here] = await Promise.all([stat(this.#options.path).catch(() => undefined), this.#handle.stat()]);
    if (there === undefined) return "gone";
    if (there.ino !== here.ino || there.dev !== here.dev) return "replaced";
    return here.size < this.#size ? "cut" : undefined;
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #rotate(): Promise<void> {
    const { path, keep } = this.#options;
    await this.#handle.datasync();
    await rename(path, rotatedName(path, this.#head.seq));
    this.#before = this.#head.seq;
    const full = this.#handle;
    this.#handle = await openOwn(path, "ax+");
    this.#size = 0;
    await full.close();
    syncFolder(path);
    await deleteBeyond(path, keep);
  }
}

/** Without it a file whose first records were cut off would look like one that follows another. */
function beginningAfter({ seq }: Link): Beginning {
  return seq === 0 ? "chain" : "file";
}

/** Whatever the umask of the process says, which may keep even the owner from a file that is made. */
async function openOwn(path: string, flags: string): Promise<FileHandle> {
  const handle = await open(path, flags, OWNER_ONLY);
  if (((await handle.stat()).mode & OWNER_ONLY) !== OWNER_ONLY) await handle.chmod(OWNER_ONLY);
  return handle;
}

/** For a crash after the last file was full, and before there was a new one. */
async function headOfFullFiles({ path, hmacKey }: ChainedFileOptions): Promise<Link> {
  const newest = (await rotatedFiles(path)).at(-1);
  if (newest === undefined) return GENESIS;
  const handle = await open(newest, "r");
  try {
    return (await readTail(handle, newest, hmacKey)).link ?? GENESIS;
  } finally {
    await handle.close();
  }
}
