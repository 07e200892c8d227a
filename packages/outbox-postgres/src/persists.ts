import { BridgeError, type OutboxRecord, ownCopy, payloadBytes, type PersistResult } from "@bridge/ports";
import { GroupCommit } from "./group-commit.ts";
import type { Lane } from "./lanes.ts";
import { identityOf } from "./names.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { type Addition, laneValues, recordValues, STATUSES } from "./record-rows.ts";
import { textOf } from "./stored-text.ts";

/** One statement holds no more than so many records and bytes. */
const GROUP = { items: 1_000, bytes: 8 * 1024 * 1024 } as const;
/** A statement of several records with more than that is worth saying again in smaller ones. */
const LARGE_BYTES = 256 * 1024;
/** A statement with more would take longer than it may, again and again. */
const MAX_RECORD_BYTES = 32 * 1024 * 1024;
/** Evidence that is forgotten between two looks at it is met again at most by chance. */
const MAX_ROUNDS = 5;
const LANE_TYPES = ["int4", "uuid", "int4"];
const RECORD_TYPES = "int4 text uuid text float8 text uuid text text text text bytea bytea".split(" ");

/** The place of the one row that says so: nothing was persisted. */
const UNKNOWN_LANE = 0;

type Results = readonly (readonly PersistResult[])[];

interface Evidence {
  readonly identity: string;
  readonly id: string;
  readonly digest: string;
  readonly status: number;
}

/** Undoes what only tried whether the server would take a record. */
class Undo extends BridgeError {
  constructor() {
    super("REJECTED", "undone", { charged: false });
  }
}

/** Writes records: those that come while a write is under way go together in the next one. */
export class Persists {
  readonly #parts: OutboxParts;
  readonly #group = new GroupCommit<OutboxRecord, PersistResult>(GROUP, (calls) => this.#write(calls));
  readonly #text: string;
  readonly #trial: string;
  /** The client bounds each call, and ends it when the store is closed. */
  readonly #signal = new AbortController().signal;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
    const { client } = parts;
    const all = parameters([...LANE_TYPES, ...RECORD_TYPES]);
    this.#text = `SELECT place, number FROM ${client.table("outbox_persist_in_lanes")}(${all})`;
    this.#trial = `SELECT place FROM ${client.table("outbox_persist")}(${parameters(RECORD_TYPES)})`;
  }

  add(records: readonly OutboxRecord[], signal: AbortSignal): Promise<readonly PersistResult[]> {
    const copies = records.map(ownCopy);
    return this.#group.add(copies, signal, bytesOf(copies));
  }

  /** What the server does not take is told apart from what came with it. */
  async #write(calls: readonly (readonly OutboxRecord[])[]): Promise<Results> {
    try {
      const results = await this.#persist(calls.flat());
      let at = 0;
      return calls.map(({ length }) => results.slice(at, (at += length)));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const [call] = calls;
      if (calls.length === 1 && call !== undefined) return [await this.#withoutRefused(call, error)];
      const results: (readonly PersistResult[])[] = [];
      for (const each of calls) results.push(...(await this.#write([each])));
      return results;
    }
  }

  /** Still together: those that are refused are found out without leaving anything behind. */
  async #withoutRefused(records: readonly OutboxRecord[], error: BridgeError): Promise<readonly PersistResult[]> {
    const refusals = new Map<OutboxRecord, BridgeError>();
    for (const record of records) {
      const refusal = records.length === 1 ? error : await this.#refusalOf(record);
      if (refusal !== undefined) refusals.set(record, refusal);
    }
    if (refusals.size === 0) throw error;
    const rest = await this.#persist(records.filter((record) => !refusals.has(record)));
    let at = 0;
    return records.map((record): PersistResult => {
      const refusal = refusals.get(record);
      return refusal === undefined ? (rest[at++] as PersistResult) : { kind: "refused", error: refusal };
    });
  }

  async #refusalOf(record: OutboxRecord): Promise<BridgeError | undefined> {
    const values = recordValues([await this.#additionOf(record)]);
    const trying = this.#parts.client.transaction(
      "trying a record of the outbox",
      async (transaction) => {
        await transaction.query({ text: this.#trial, values });
        throw new Undo();
      },
      this.#signal,
    );
    const thrown: unknown = await trying.then(
      () => undefined,
      (error: unknown) => error,
    );
    if (thrown instanceof Undo) return undefined;
    if (isRefusal(thrown)) return thrown;
    throw thrown;
  }

  async #persist(records: readonly OutboxRecord[]): Promise<readonly PersistResult[]> {
    const results = new Map<OutboxRecord, PersistResult>();
    let open = records.filter((record) => {
      if (payloadBytes(record) <= MAX_RECORD_BYTES) return true;
      results.set(record, { kind: "refused", error: tooLarge() });
      return false;
    });
    const additions = new Map<OutboxRecord, Addition>();
    for (const record of open) additions.set(record, await this.#additionOf(record));
    for (let round = 1; open.length > 0; round++) {
      if (round > MAX_ROUNDS) throw new BridgeError("UNAVAILABLE", "evidence against duplicates comes and goes");
      const unsure = await this.#insert(firstsOf(open, additions), results);
      const repeats = open.filter((record) => !results.has(record));
      if (repeats.length > 0) await this.#compare(repeats, additions, unsure, results);
      open = open.filter((record) => !results.has(record));
    }
    return records.map((record) => results.get(record) as PersistResult);
  }

  /** Returns the records that an earlier try of this statement may have inserted. */
  async #insert(
    additions: readonly Addition[],
    results: Map<OutboxRecord, PersistResult>,
  ): Promise<ReadonlySet<OutboxRecord>> {
    const { client, contents, arrivals } = this.#parts;
    const keyed = keyedOf(additions);
    const ask = () =>
      client.query<{ place: number; number: number }>(
        {
          what: "persisting in the outbox",
          name: "outbox_persist",
          text: this.#text,
          values: [...laneValues(keyed), ...recordValues(additions)],
          endsWhenLate: additions.length > 1 && bytesOf(additions.map(({ record }) => record)) > LARGE_BYTES,
        },
        this.#signal,
      );
    let { rows, unsure } = await ask();
    for (let round = 1; rows[0]?.place === UNKNOWN_LANE; round++) {
      if (round > MAX_ROUNDS)
        throw new BridgeError("UNAVAILABLE", "lanes of the outbox come and go", { charged: false });
      for (const [lane, has] of keyed) await this.#parts.lanes.enterAgain(lane, has, this.#signal);
      const again = await ask();
      rows = again.rows;
      unsure ||= again.unsure;
    }
    const lanes = new Set<number>();
    for (const { place, number } of rows) {
      const addition = additions[place - 1];
      if (addition === undefined) continue;
      results.set(addition.record, { kind: "persisted" });
      contents.add(number, addition.record);
      const { lane } = addition;
      lane.floor = Math.min(lane.floor, number);
      lanes.add(lane.lane);
    }
    if (lanes.size > 0) arrivals.tell(lanes);
    return new Set(unsure ? additions.map(({ record }) => record) : []);
  }

  /** Says of each what is there already under its identity; what is not there any more stays open. */
  async #compare(
    repeats: readonly OutboxRecord[],
    additions: ReadonlyMap<OutboxRecord, Addition>,
    mayBeOwn: ReadonlySet<OutboxRecord>,
    results: Map<OutboxRecord, PersistResult>,
  ): Promise<void> {
    const { client } = this.#parts;
    const identities = repeats.map((record) => hexOf(record, additions));
    const { rows } = await client.query<Evidence>(
      {
        what: "looking for duplicates in the outbox",
        text: `SELECT replace(identity::text, '-', '') AS identity, id, digest, status
                 FROM ${client.table("outbox_record")} WHERE identity = ANY ($1::uuid[])`,
        values: [identities],
      },
      this.#signal,
    );
    const found = new Map(rows.map((row) => [row.identity, row]));
    for (const [index, record] of repeats.entries()) {
      const there = found.get(identities[index] ?? "");
      if (there === undefined) continue;
      const id = textOf(there.id);
      if (textOf(there.digest) !== record.payloadDigest) results.set(record, { kind: "conflict" });
      else if (id === record.id && mayBeOwn.has(record)) results.set(record, { kind: "persisted" });
      else results.set(record, { kind: "duplicate", id, status: STATUSES[there.status] ?? "pending" });
    }
  }

  async #additionOf(record: OutboxRecord): Promise<Addition> {
    const { lanes } = this.#parts;
    const lane = await lanes.of(record, this.#signal);
    return { record, lane, identity: identityOf(record, record.envelope.id) };
  }
}

/** The lanes of records, and whether any has a key. */
function keyedOf(additions: readonly Addition[]): ReadonlyMap<Lane, boolean> {
  const keyed = new Map<Lane, boolean>();
  for (const { lane, record } of additions) {
    keyed.set(lane, keyed.get(lane) === true || record.orderingKey !== undefined);
  }
  return keyed;
}

function parameters(types: readonly string[]): string {
  return types.map((type, index) => `$${index + 1}::${type}[]`).join(", ");
}

/** Of records under one identity, the first: the others are its repeats. */
function firstsOf(
  records: readonly OutboxRecord[],
  additions: ReadonlyMap<OutboxRecord, Addition>,
): readonly Addition[] {
  const firsts = new Map<string, Addition>();
  for (const record of records) {
    const addition = additions.get(record);
    const identity = hexOf(record, additions);
    if (addition !== undefined && !firsts.has(identity)) firsts.set(identity, addition);
  }
  return [...firsts.values()];
}

function bytesOf(records: readonly OutboxRecord[]): number {
  return records.reduce((sum, record) => sum + payloadBytes(record), 0);
}

function hexOf(record: OutboxRecord, additions: ReadonlyMap<OutboxRecord, Addition>): string {
  return additions.get(record)?.identity.toString("hex") ?? "";
}

/** Whether it is for what a record has in it, and not for the state that the server is in. */
function isRefusal(error: unknown): error is BridgeError {
  return BridgeError.is(error) && (error.code === "REJECTED" || error.code === "PAYLOAD_TOO_LARGE");
}

function tooLarge(): BridgeError {
  const why = `the message is too large for the outbox: its payload may have ${MAX_RECORD_BYTES / 1024 / 1024} MiB`;
  return new BridgeError("PAYLOAD_TOO_LARGE", why, { charged: false });
}
