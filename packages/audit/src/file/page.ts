import type { AuditEvent } from "../event.ts";
import type { AuditFilter, AuditPage } from "../history.ts";
import { type ChainRecord, isIntact, type Link, readRecord } from "./record.ts";
import { removalWords, resumptionIn } from "./resumption.ts";

/** Read of the files in one call. */
const BUDGET_BYTES = 4 * 1_048_576;
const CURSOR = /^1\|([1-9]\d{0,15})\|(\d{1,15})\|([0-9a-f]{64})$/;

/** Behind which record a page begins: its number, where it stands in its file, and the hash that the one before it has to have. */
export interface Place {
  readonly seq: number;
  readonly offset: number;
  readonly prev: string;
}

export interface PageOptions {
  readonly filter: AuditFilter;
  readonly limit: number;
  readonly keys: readonly string[];
  /** Where the page before it ended; absent for the first one. */
  readonly from: Place | undefined;
  /** What the newest record has to be, or to come behind; absent when nobody knows. */
  readonly head: Link | undefined;
}

/** What a call collects. */
export class Page {
  readonly #filter: AuditFilter;
  readonly #limit: number;
  readonly #keys: readonly string[];
  readonly #head: Link | undefined;
  readonly #events: AuditEvent[] = [];
  #left = BUDGET_BYTES;
  #last: Place | undefined;
  /** Whether the oldest record that was read can be the first that there is. */
  #isBeginning: boolean | undefined;
  #breakAt: number | undefined;
  #isOver = false;

  constructor({ filter, limit, keys, from, head }: PageOptions) {
    this.#filter = filter;
    this.#limit = limit;
    this.#keys = keys;
    this.#last = from;
    this.#head = from === undefined && head !== undefined && head.seq > 0 ? head : undefined;
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
    const follows =
      after === undefined ? this.#isHead(record) : record.seq === after.seq - 1 && record.hash === after.prev;
    // Of what another key has sealed nothing can be said here; the verification says it.
    const isSound = (record.keyed && this.#keys.length === 0) || isIntact(record, this.#keys);
    if (!follows || !isSound) this.#breakAt ??= isSound ? (after?.seq ?? record.seq) : record.seq;
    this.#last = { seq: record.seq, offset, prev: record.prev };
    const event = eventIn(line);
    this.#look(record, event);
    if (event === undefined) return;
    const at = Date.parse(event.timestamp);
    const { since, before } = this.#filter;
    if (since !== undefined && at < since) this.#isOver = true;
    else if ((before === undefined || at < before) && this.#matches(event)) this.#events.push(event);
  }

  /**
   * Nothing older is there. `isAlone`: nor is the file that ends before the current one, although it is kept.
   */
  end(isAlone: boolean): void {
    if (this.#last === undefined) this.#breakAt ??= this.#head?.seq;
    else if (this.#isBeginning === false || (this.#isBeginning === true && isAlone && this.#last.seq > 1))
      this.#breakAt ??= this.#last.seq;
  }

  /** Whether the oldest record that was read is the first of its file. */
  get isAtStart(): boolean {
    return this.#last === undefined || this.#last.offset === 0;
  }

  read(): AuditPage {
    const last = this.#last;
    const more = this.isFull && !this.#isOver && last !== undefined && last.seq > 1;
    return {
      events: this.#events,
      ...(more && { next: cursorOf(last) }),
      ...(this.#breakAt !== undefined && { breakAt: this.#breakAt }),
    };
  }

  /** Whether the newest record is what its writer has written last, or comes behind it. */
  #isHead({ seq, hash }: Link): boolean {
    const head = this.#head;
    return head === undefined || seq > head.seq || (seq === head.seq && hash === head.hash);
  }

  /** What the record says of those before it. */
  #look({ seq, begins }: ChainRecord, event: AuditEvent | undefined): void {
    const resumption = event && resumptionIn(seq, event);
    const removed = (isFirst: boolean): boolean =>
      resumption !== undefined && removalWords(resumption, { begins, isFirst }) !== undefined;
    if (removed(false)) this.#breakAt ??= seq;
    this.#isBeginning = seq === 1 || (begins && !removed(true));
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

/** @throws RangeError for what is no cursor */
export function placeOf(cursor: string): Place {
  const [, seq, offset, prev] = CURSOR.exec(Buffer.from(cursor, "base64url").toString("latin1")) ?? [];
  if (seq === undefined || offset === undefined || prev === undefined) throw new RangeError("the cursor is none");
  return { seq: Number(seq), offset: Number(offset), prev };
}

function cursorOf({ seq, offset, prev }: Place): string {
  return Buffer.from(`1|${seq}|${offset}|${prev}`).toString("base64url");
}
