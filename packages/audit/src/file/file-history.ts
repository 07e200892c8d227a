import { type FileHandle, open } from "node:fs/promises";
import type { Clock } from "@bridge/ports";
import type { AuditFilter, AuditHistory, AuditPage, AuditVerification } from "../history.ts";
import { Page, type Place, placeOf } from "./page.ts";
import type { Link } from "./record.ts";
import { rotatedFiles } from "./rotated-files.ts";
import { type Verification, verifyFiles } from "./verify.ts";
import { whileUnchanged } from "./while-unchanged.ts";

const CHUNK_BYTES = 65_536;
/** No record is longer. */
const MAX_LINE_BYTES = 1_048_576;
const LINE_BREAK = 0x0a;

/** What the writer of the files knows. */
export interface FileWriter {
  /** Full files that stay. */
  readonly keep: number;
  /** The last record whose writer was told that it is kept. */
  readonly confirmed: Link;
}

/** An audit file and its full ones, read from the newest record back. */
export class FileHistory implements AuditHistory {
  readonly #path: string;
  readonly #keys: readonly string[];
  readonly #clock: Clock;
  readonly #writer: FileWriter | undefined;

  /** Without a writer nothing is known of records that are missing at the end. */
  constructor(path: string, hmacKey: string | undefined, clock: Clock, writer?: FileWriter) {
    this.#path = path;
    this.#clock = clock;
    this.#keys = hmacKey === undefined ? [] : [hmacKey];
    this.#writer = writer;
  }

  async read(filter: AuditFilter, limit: number, cursor: string | undefined, signal: AbortSignal): Promise<AuditPage> {
    const from = cursor === undefined ? undefined : placeOf(cursor);
    const look = () => this.#read(filter, limit, from, signal);
    return this.#whileUnchanged(look, ({ breakAt }) => breakAt === undefined, signal);
  }

  async #read(filter: AuditFilter, limit: number, from: Place | undefined, signal: AbortSignal): Promise<AuditPage> {
    const page = new Page({ filter, limit, keys: this.#keys, from, head: this.#writer?.confirmed });
    const full = (await rotatedFiles(this.#path)).toReversed();
    const files = filesUpTo(from?.seq, full, this.#path);
    let upTo = from?.offset;
    for (const [n, path] of files.entries()) {
      signal.throwIfAborted();
      await readBackwards(path, upTo, page, signal);
      if (n === files.length - 1 && page.isAtStart) page.end(this.#isAlone(full));
      if (page.isFull) break;
      upTo = undefined;
    }
    return page.read();
  }

  async verify(signal: AbortSignal): Promise<AuditVerification> {
    const verified = await this.#whileUnchanged(
      () => this.#verify(signal),
      (seen) => seen.break === undefined,
      signal,
    );
    const { records, head, break: found } = verified;
    return {
      records,
      head,
      ...(found !== undefined && { problem: `${found.file}, line ${found.line}: ${found.message}` }),
    };
  }

  async #verify(signal: AbortSignal): Promise<Verification> {
    const { seq = 0, hash } = this.#writer?.confirmed ?? {};
    const full = await rotatedFiles(this.#path);
    const head = seq > 0 ? hash : undefined;
    const verified = await verifyFiles([...full, this.#path], { keys: this.#keys, head, signal });
    const [{ first } = { first: 0 }] = verified.files;
    if (verified.break !== undefined || first <= 1 || !this.#isAlone(full)) return verified;
    const message = `the records before record ${first} are gone: no full file ends with record ${first - 1}`;
    return { ...verified, break: { file: this.#path, line: 1, message } };
  }

  /** Whether the file that ends before the current one is not there: the newest full one is never deleted. */
  #isAlone(full: readonly string[]): boolean {
    return full.length === 0 && this.#writer !== undefined && this.#writer.keep > 0;
  }

  #whileUnchanged<Result>(
    look: () => Promise<Result>,
    isSound: (result: Result) => boolean,
    signal: AbortSignal,
  ): Promise<Result> {
    return whileUnchanged({ path: this.#path, clock: this.#clock, look, isSound }, signal);
  }
}

/** Newest first; without those that hold newer records only. */
function filesUpTo(seq: number | undefined, full: readonly string[], current: string): readonly string[] {
  if (seq === undefined) return [current, ...full];
  // The name of a full file ends in the number of its last record.
  const older = full.findLastIndex((path) => Number(path.slice(-16)) >= seq);
  return older < 0 ? [current, ...full] : full.slice(older);
}

/** Hands `page` the whole lines before `upTo`, by default all, from the last one on, until it is full. */
async function readBackwards(path: string, upTo: number | undefined, page: Page, signal: AbortSignal): Promise<void> {
  await using handle = await opened(path);
  if (handle === undefined) return;
  const { size } = await handle.file.stat();
  if (upTo !== undefined && upTo > size) throw new RangeError("the cursor is behind the end of its file");
  let end = upTo ?? size;
  /** What follows `end` and belongs to the line that ends behind it. */
  let rest: Buffer = Buffer.alloc(0);
  // What no line break ends is being written, or was torn.
  let isTail = upTo === undefined;
  while (end > 0 && !page.isFull) {
    signal.throwIfAborted();
    const from = Math.max(0, end - CHUNK_BYTES);
    const chunk = Buffer.alloc(end - from);
    const { bytesRead } = await handle.file.read(chunk, 0, chunk.length, from);
    if (bytesRead < chunk.length) return;
    const bytes = Buffer.concat([chunk, rest]);
    let lineEnd = bytes.length;
    for (
      let at = bytes.lastIndexOf(LINE_BREAK);
      at >= 0 && !page.isFull;
      at = lineEnd > 0 ? bytes.lastIndexOf(LINE_BREAK, lineEnd - 1) : -1
    ) {
      if (!isTail && at + 1 < lineEnd) page.add(bytes.subarray(at + 1, lineEnd), from + at + 1);
      isTail = false;
      lineEnd = at;
    }
    rest = bytes.subarray(0, lineEnd);
    if (rest.length > MAX_LINE_BYTES) throw new RangeError(`${path} has a line that is no record`);
    end = from;
  }
  if (end === 0 && rest.length > 0 && !isTail && !page.isFull) page.add(rest, 0);
}

/** `undefined` when it is not there any more: the oldest files are deleted. */
async function opened(path: string): Promise<({ readonly file: FileHandle } & AsyncDisposable) | undefined> {
  try {
    const file = await open(path, "r");
    return { file, [Symbol.asyncDispose]: () => file.close() };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
