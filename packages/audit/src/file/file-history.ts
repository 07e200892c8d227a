import { type FileHandle, open } from "node:fs/promises";
import type { Clock } from "@bridge/ports";
import type { AuditEvent } from "../event.ts";
import type { AuditFilter, AuditHistory, AuditPage, AuditVerification } from "../history.ts";
import { isIntact, readRecord } from "./record.ts";
import { rotatedFiles } from "./rotated-files.ts";
import { verifyFiles } from "./verify.ts";
import { whileUnchanged } from "./while-unchanged.ts";

/** Read of the files in one call. */
const BUDGET_BYTES = 4 * 1_048_576;
const CHUNK_BYTES = 65_536;
/** No record is longer. */
const MAX_LINE_BYTES = 1_048_576;
const LINE_BREAK = 0x0a;
const CURSOR = /^1\|([1-9]\d{0,15})\|(\d{1,15})\|([0-9a-f]{64})$/;

/** Behind which record a page begins: its number, where it stands in its file, and the hash that the one before it has to have. */
interface Place {
  readonly seq: number;
  readonly offset: number;
  readonly prev: string;
}

/** An audit file and its full ones, read from the newest record back. */
export class FileHistory implements AuditHistory {
  readonly #path: string;
  readonly #keys: readonly string[];
  readonly #clock: Clock;

  constructor(path: string, hmacKey: string | undefined, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
    this.#keys = hmacKey === undefined ? [] : [hmacKey];
  }

  async read(filter: AuditFilter, limit: number, cursor: string | undefined, signal: AbortSignal): Promise<AuditPage> {
    const from = cursor === undefined ? undefined : placeOf(cursor);
    const look = () => this.#read(filter, limit, from, signal);
    return this.#whileUnchanged(look, ({ breakAt }) => breakAt === undefined, signal);
  }

  async #read(filter: AuditFilter, limit: number, from: Place | undefined, signal: AbortSignal): Promise<AuditPage> {
    const page = new Page(filter, limit, this.#keys, from);
    let upTo = from?.offset;
    for (const path of await this.#filesUpTo(from?.seq)) {
      signal.throwIfAborted();
      await readBackwards(path, upTo, page, signal);
      if (page.isFull) break;
      upTo = undefined;
    }
    return page.read();
  }

  async verify(signal: AbortSignal): Promise<AuditVerification> {
    const look = async () =>
      verifyFiles([...(await rotatedFiles(this.#path)), this.#path], { keys: this.#keys, signal });
    const verified = await this.#whileUnchanged(look, (seen) => seen.break === undefined, signal);
    const { records, head, break: found } = verified;
    return {
      records,
      head,
      ...(found !== undefined && { problem: `${found.file}, line ${found.line}: ${found.message}` }),
    };
  }

  #whileUnchanged<Result>(
    look: () => Promise<Result>,
    isSound: (result: Result) => boolean,
    signal: AbortSignal,
  ): Promise<Result> {
    return whileUnchanged({ path: this.#path, clock: this.#clock, look, isSound }, signal);
  }

  /** Newest first; without those that hold newer records only. */
  async #filesUpTo(seq: number | undefined): Promise<readonly string[]> {
    const full = (await rotatedFiles(this.#path)).toReversed();
    if (seq === undefined) return [this.#path, ...full];
    // The name of a full file ends in the number of its last record.
    const older = full.findLastIndex((path) => Number(path.slice(-16)) >= seq);
    return older < 0 ? [this.#path, ...full] : full.slice(older);
  }
}

/** What a call collects. */
class Page {
  readonly #filter: AuditFilter;
  readonly #limit: number;
  readonly #keys: readonly string[];
  readonly #events: AuditEvent[] = [];
  #left = BUDGET_BYTES;
  #last: Place | undefined;
  #breakAt: number | undefined;
  #isOver = false;

  constructor(filter: AuditFilter, limit: number, keys: readonly string[], from: Place | undefined) {
    this.#filter = filter;
    this.#limit = limit;
    this.#keys = keys;
    this.#last = from;
  }

  get isFull(): boolean {
    return this.#isOver || this.#left <= 0 || this.#events.length >= this.#limit;
  }

  /** A line that begins at `offset`, the one before the line that was added last. */
  add(line: Buffer, offset: number): void {
    this.#left -= line.length + 1;
    const record = readRecord(line);
    const after = this.#last;
    if (record === undefined) {
      this.#breakAt ??= (after?.seq ?? 1) - 1;
      return;
    }
    const follows = after === undefined || (record.seq === after.seq - 1 && record.hash === after.prev);
    // Of what another key has sealed nothing can be said here; the verification says it.
    const isSound = (record.keyed && this.#keys.length === 0) || isIntact(record, this.#keys);
    if (!follows || !isSound) this.#breakAt ??= isSound ? (after?.seq ?? record.seq) : record.seq;
    this.#last = { seq: record.seq, offset, prev: record.prev };
    const event = eventIn(line);
    if (event === undefined) return;
    const at = Date.parse(event.timestamp);
    const { since, before } = this.#filter;
    if (since !== undefined && at < since) this.#isOver = true;
    else if ((before === undefined || at < before) && this.#matches(event)) this.#events.push(event);
  }

  read(): AuditPage {
    const last = this.#last;
    const more = this.isFull && !this.#isOver && last !== undefined && last.seq > 1;
    return {
      events: this.#events,
      ...(more && { next: Buffer.from(`1|${last.seq}|${last.offset}|${last.prev}`).toString("base64url") }),
      ...(this.#breakAt !== undefined && { breakAt: this.#breakAt }),
    };
  }

  #matches({ actor, action, outcome, resource_id: resourceId }: AuditEvent): boolean {
    const wanted = this.#filter;
    return (
      (wanted.actor ?? actor) === actor &&
      (wanted.action ?? action) === action &&
      (wanted.outcome ?? outcome) === outcome &&
      (wanted.resourceId ?? resourceId) === resourceId
    );
  }
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

function placeOf(cursor: string): Place {
  const [, seq, offset, prev] = CURSOR.exec(Buffer.from(cursor, "base64url").toString("latin1")) ?? [];
  if (seq === undefined || offset === undefined || prev === undefined) throw new RangeError("the cursor is none");
  return { seq: Number(seq), offset: Number(offset), prev };
}

function eventIn(line: Buffer): AuditEvent | undefined {
  try {
    const { timestamp, action, actor, resource_type, resource_id, outcome, detail } = JSON.parse(
      line.toString("utf8"),
    ) as AuditEvent;
    return { timestamp, action, actor, resource_type, resource_id, outcome, detail };
  } catch {
    return undefined;
  }
}
