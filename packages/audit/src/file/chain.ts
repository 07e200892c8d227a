import type { Line } from "./lines.ts";
import { type ChainRecord, GENESIS, isIntact, readRecord } from "./record.ts";
import { removalWords, type Resumption, resumptionIn } from "./resumption.ts";

export interface ChainOptions {
  /** Keys of HMACs. With none, HMACs cannot be verified. */
  readonly keys?: readonly string[] | undefined;
  /** The number of the first record that was written with a key. Default, with keys: 1. */
  readonly keyedFrom?: number | undefined;
  /** The hash of a record, noted elsewhere, that has to be there. */
  readonly head?: string | undefined;
}

/** The first place at which the records are not those that were written. */
export interface Break {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

/** A record that says what its writer found, and where it stands. */
export type Resumed = Resumption & Pick<Break, "file" | "line">;

/** A record that stands for calls that changed nothing and have no records of their own. */
export interface Merger {
  readonly file: string;
  readonly line: number;
  readonly seq: number;
  readonly merged: number;
  /** How many, by action. */
  readonly actions: Readonly<Record<string, number>>;
}

/** What a sink records of itself. */
interface Note {
  readonly action: string;
  readonly detail?: {
    readonly merged?: number;
    readonly actions?: Readonly<Record<string, number>>;
  };
}

/** Holds one line after another against those before it, up to the first break. */
export class Chain {
  readonly resumed: Resumed[] = [];
  readonly merged: Merger[] = [];
  records = 0;
  torn: { file: string; bytes: number } | undefined;
  break: Break | undefined;
  readonly #keys: readonly string[];
  readonly #keyedFrom: number;
  readonly #wanted: string | undefined;
  #hasWanted = false;
  #last: ChainRecord | undefined;
  /** The first place at which a record says that some before it are gone. */
  #removal: Break | undefined;
  #at: { file: string; line: number } = { file: "", line: 0 };

  constructor({ keys = [], keyedFrom = 1, head }: ChainOptions) {
    this.#keys = keys;
    this.#keyedFrom = keyedFrom;
    this.#wanted = head?.toLowerCase();
  }

  get head(): string {
    return this.#last?.hash ?? GENESIS.hash;
  }

  /** Its number; `undefined` when it is no record that follows. */
  add(file: string, line: Line): number | undefined {
    const record = readRecord(line.bytes);
    const at = { file, line: line.number };
    if (this.torn !== undefined) return this.#fail(this.#at, "the line is cut off, and records follow");
    this.#at = at;
    if (!line.ended) {
      this.torn = { file, bytes: line.bytes.length };
      return undefined;
    }
    if (record === undefined) return this.#fail(at, `${this.#next} was changed: the line is no record`);
    const problem = this.#problemOf(record);
    if (problem !== undefined) return this.#fail(at, problem);
    if (record.hashed.includes('"action":"audit.')) this.#note(at, record, line.bytes);
    this.#last = record;
    this.records++;
    if (record.hash === this.#wanted) this.#hasWanted = true;
    return record.seq;
  }

  end(): void {
    if (this.break === undefined && this.#wanted !== undefined && !this.#hasWanted)
      this.#fail(this.#at, `the tail was cut, or replaced: no record has the head ${this.#wanted}`);
    // What is there was held against its hashes first: a break in it says more than what its writer has said already.
    this.break ??= this.#removal;
  }

  get #next(): string {
    return this.#last === undefined ? "the first record" : `record ${this.#last.seq + 1}`;
  }

  #problemOf(record: ChainRecord): string | undefined {
    const { seq, keyed, prev } = record;
    const last = this.#last;
    if (last?.keyed === true && !keyed) return `record ${seq} has no HMAC, and those before it have`;
    // Anybody can write those, of a whole chain too.
    if (!keyed && this.#keys.length > 0 && seq >= this.#keyedFrom)
      return `record ${seq} has no HMAC, so anybody can have written it: if the key was set later, say from which record on with -keyed-from`;
    if (keyed && this.#keys.length === 0) return `record ${seq} has an HMAC: give the key with -key-file`;
    if (!isIntact(record, this.#keys))
      return `record ${seq} was changed: ${keyed ? "its HMAC is of other bytes, or of another key" : "its hash is of other bytes"}`;
    const before = last ?? (seq === 1 ? GENESIS : undefined);
    if (before === undefined)
      return record.begins
        ? undefined
        : `no file begins with record ${seq}: those before it were cut off, or it is of an older version (then give all files from record 1)`;
    if (seq > before.seq + 2) return `records ${before.seq + 1} to ${seq - 1} are missing`;
    if (seq === before.seq + 2) return `record ${seq - 1} is missing`;
    if (seq <= before.seq) return `record ${seq} stands behind record ${before.seq}: out of order, or twice`;
    if (prev !== before.hash)
      return `record ${seq} does not follow the record ${before.seq} that is there: one was replaced`;
    return undefined;
  }

  #note(at: { file: string; line: number }, { seq, begins }: ChainRecord, bytes: Buffer): void {
    const note = JSON.parse(bytes.toString()) as Note;
    const resumption = resumptionIn(seq, note);
    if (resumption !== undefined) {
      this.resumed.push({ ...at, ...resumption });
      const message = removalWords(resumption, { begins, isFirst: this.#last === undefined });
      if (message !== undefined) this.#removal ??= { ...at, message };
    }
    const { merged = 0, actions = {} } = note.detail ?? {};
    if (note.action === "audit.merged") this.merged.push({ ...at, seq, merged, actions });
  }

  #fail(at: { file: string; line: number }, message: string): undefined {
    this.break = { ...at, message };
    return undefined;
  }
}
