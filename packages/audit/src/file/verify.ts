import { linesOf, type Line } from "./lines.ts";
import { type ChainRecord, GENESIS, isIntact, readRecord } from "./record.ts";

export interface VerifyOptions {
  /** Keys of HMACs. With none, HMACs cannot be verified. */
  readonly keys?: readonly string[] | undefined;
  /** The number of the first record that was written with a key. Default, with keys: 1. */
  readonly keyedFrom?: number | undefined;
  /** The hash of a record, noted elsewhere, that has to be there. */
  readonly head?: string | undefined;
  /** Gives up when it aborts, and rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** The first place at which the records are not those that were written. */
export interface Break {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

/** A record that stands for calls that changed nothing and have no records of their own. */
interface Merger {
  readonly file: string;
  readonly line: number;
  readonly seq: number;
  readonly merged: number;
  /** How many, by action. */
  readonly actions: Readonly<Record<string, number>>;
}

/** A record that says what its writer found when it went on. */
interface Resumption {
  readonly file: string;
  readonly line: number;
  readonly seq: number;
  /** Events that could not be written before it. */
  readonly lost: number;
  /** Bytes of a torn line that were cut off before it. */
  readonly tornBytes: number;
  /** What somebody had done to the file: `gone`, `replaced` or `cut`. */
  readonly harm?: string;
  /** Whether those before it have no HMACs, and it has. */
  readonly plain: boolean;
}

export interface Verification {
  /** In the order of their records. */
  readonly files: readonly { readonly path: string; readonly first: number; readonly last: number }[];
  readonly records: number;
  /** The hash of the last record. */
  readonly head: string;
  readonly resumed: readonly Resumption[];
  readonly merged: readonly Merger[];
  /** The last line was not written to its end: a crash, or somebody, cut it off. */
  readonly torn: { readonly file: string; readonly bytes: number } | undefined;
  readonly break: Break | undefined;
}

/**
 * Holds the records of a chain against their hashes, up to the first break. The files may be given in any order; those
 * before the oldest one given need not be there any more, if it says that a file begins with its first record.
 *
 * Rejects when a file cannot be read.
 */
export async function verifyFiles(paths: readonly string[], options: VerifyOptions = {}): Promise<Verification> {
  const chain = new Chain(options);
  const files: { path: string; first: number; last: number }[] = [];
  for (const path of await inOrder(paths)) {
    const file = { path, first: 0, last: 0 };
    for await (const line of linesOf(path)) {
      options.signal?.throwIfAborted();
      const seq = chain.add(path, line);
      if (chain.break !== undefined) break;
      if (seq === undefined) continue;
      file.first ||= seq;
      file.last = seq;
    }
    files.push(file);
    if (chain.break !== undefined) break;
  }
  chain.end();
  const { records, head, resumed, merged, torn } = chain;
  return { files, records, head, resumed, merged, torn, break: chain.break };
}

/** By the number of the first record of each. */
async function inOrder(paths: readonly string[]): Promise<readonly string[]> {
  const starts = await Promise.all(paths.map(async (path) => ({ path, first: await firstSeq(path) })));
  return starts.toSorted((a, b) => a.first - b.first).map(({ path }) => path);
}

async function firstSeq(path: string): Promise<number> {
  for await (const { bytes } of linesOf(path)) {
    const record = readRecord(bytes);
    if (record !== undefined) return record.seq;
  }
  return Infinity;
}

/** What a sink records of itself. */
interface Note {
  readonly action: string;
  readonly detail?: {
    readonly lost?: number;
    readonly torn_bytes?: number;
    readonly file?: string;
    readonly plain?: boolean;
    readonly merged?: number;
    readonly actions?: Readonly<Record<string, number>>;
  };
}

class Chain {
  readonly resumed: Resumption[] = [];
  readonly merged: Merger[] = [];
  records = 0;
  torn: { file: string; bytes: number } | undefined;
  break: Break | undefined;
  readonly #keys: readonly string[];
  readonly #keyedFrom: number;
  readonly #wanted: string | undefined;
  #hasWanted = false;
  #last: ChainRecord | undefined;
  #at: { file: string; line: number } = { file: "", line: 0 };

  constructor({ keys = [], keyedFrom = 1, head }: VerifyOptions) {
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
    this.#last = record;
    this.records++;
    if (record.hash === this.#wanted) this.#hasWanted = true;
    if (record.hashed.includes('"action":"audit.')) this.#note(at, record, line.bytes);
    return record.seq;
  }

  end(): void {
    if (this.break !== undefined || this.#wanted === undefined || this.#hasWanted) return;
    this.#fail(this.#at, `the tail was cut, or replaced: no record has the head ${this.#wanted}`);
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

  #note(at: { file: string; line: number }, { seq }: ChainRecord, bytes: Buffer): void {
    const { action, detail = {} } = JSON.parse(bytes.toString()) as Note;
    if (action === "audit.resumed")
      this.resumed.push({
        ...at,
        seq,
        lost: detail.lost ?? 0,
        tornBytes: detail.torn_bytes ?? 0,
        ...(detail.file !== undefined && { harm: detail.file }),
        plain: detail.plain ?? false,
      });
    if (action === "audit.merged")
      this.merged.push({ ...at, seq, merged: detail.merged ?? 0, actions: detail.actions ?? {} });
  }

  #fail(at: { file: string; line: number }, message: string): undefined {
    this.break = { ...at, message };
    return undefined;
  }
}
