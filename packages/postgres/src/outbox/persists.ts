import { BridgeError, type OutboxRecord, type PersistResult } from "@bridge/ports";
import { ownCopy, payloadBytes } from "@bridge/ports/internal";
import { GroupCommit } from "./group-commit.ts";
import { identityOf } from "./names.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import type { Place } from "./places.ts";
import { type Addition, RECORD_TYPES, recordValues, STATUSES } from "./record-rows.ts";
import { textOf } from "./stored-text.ts";

/** One statement holds no more than so many records and bytes. */
const GROUP = { items: 1_000, bytes: 8 * 1024 * 1024 } as const;
/** A statement of several records with more than that is worth saying again in smaller ones. */
const LARGE_BYTES = 256 * 1024;
/** A statement with more would take longer than it may, again and again. */
const MAX_RECORD_BYTES = 32 * 1024 * 1024;
/** Evidence that is forgotten between two looks at it is met again at most by chance. */
const MAX_ROUNDS = 5;

const PERSISTING = "persisting in the outbox";

type Results = Map<Addition, PersistResult>;

interface Evidence {
  readonly name: string;
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
  readonly #group = new GroupCommit<Addition, PersistResult>(GROUP, (calls) => this.#write(calls));
  readonly #text: string;
  /** The client bounds each call, and ends it when the store is closed. */
  readonly #signal = new AbortController().signal;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
    const types = RECORD_TYPES.map((type, index) => `$${index + 1}::${type}[]`).join(", ");
    this.#text = `SELECT nth, number FROM ${parts.client.table("outbox_persist")}(${types})`;
  }

  add(records: readonly OutboxRecord[], signal: AbortSignal): Promise<readonly PersistResult[]> {
    const additions = records.map((record): Addition => {
      const identity = identityOf(record);
      const place = this.#parts.places.of(record);
      return { record: ownCopy(record), place, identity, name: identity.toString("hex") };
    });
    return this.#group.add(additions, signal, bytesOf(additions));
  }

  async #write(calls: readonly (readonly Addition[])[]): Promise<readonly (readonly PersistResult[])[]> {
    const results: Results = new Map();
    await this.#persistApart(calls, results);
    return calls.map((call) => call.map((addition) => results.get(addition) as PersistResult));
  }

  /** What the server does not take is told apart from what came with it. */
  async #persistApart(calls: readonly (readonly Addition[])[], results: Results): Promise<void> {
    try {
      await this.#persist(calls.flat(), results);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const [call, ...more] = calls;
      if (call !== undefined && more.length === 0) await this.#withoutRefused(call, error, results);
      else for (const each of calls) await this.#persistApart([each], results);
    }
  }

  /** Still together: those that are refused are found out without leaving anything behind. */
  async #withoutRefused(additions: readonly Addition[], error: BridgeError, results: Results): Promise<void> {
    const before = results.size;
    for (const addition of additions) {
      if (results.has(addition)) continue;
      const refusal = additions.length === 1 ? error : await this.#refusalOf(addition);
      if (refusal !== undefined) results.set(addition, { kind: "refused", error: refusal });
    }
    if (results.size === before) throw error;
    await this.#persist(additions, results);
  }

  async #refusalOf(addition: Addition): Promise<BridgeError | undefined> {
    const trying = this.#parts.client.transaction(
      "trying a record of the outbox",
      async (transaction) => {
        await transaction.query({ text: this.#text, values: recordValues([addition]) });
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

  /** Of what has no result yet. */
  async #persist(additions: readonly Addition[], results: Results): Promise<void> {
    for (const addition of additions) {
      if (payloadBytes(addition.record) > MAX_RECORD_BYTES)
        results.set(addition, { kind: "refused", error: tooLarge() });
    }
    const open = () => additions.filter((addition) => !results.has(addition));
    for (let round = 1; open().length > 0; round++) {
      if (round > MAX_ROUNDS) throw this.#parts.client.keptNothing(PERSISTING);
      const unsure = await this.#insert(firstsOf(open()), results);
      const repeats = open();
      if (repeats.length > 0) await this.#compare(repeats, unsure, results);
    }
  }

  /** Returns what an earlier try of this statement may have inserted. */
  async #insert(additions: readonly Addition[], results: Results): Promise<ReadonlySet<Addition>> {
    const { client, contents, arrivals } = this.#parts;
    const { rows, unsure } = await client.query<{ nth: number; number: number }>(
      {
        what: PERSISTING,
        name: "outbox_persist",
        text: this.#text,
        values: recordValues(additions),
        lasting: true,
        endsWhenLate: additions.length > 1 && bytesOf(additions) > LARGE_BYTES,
      },
      this.#signal,
    );
    const places = new Set<Place>();
    for (const { nth, number } of rows) {
      const addition = additions[nth - 1];
      if (addition === undefined) continue;
      const { record, place } = addition;
      results.set(addition, { kind: "persisted" });
      contents.add(number, record);
      // Numbers begin again in a database that went back.
      place.floor = Math.min(place.floor, number);
      places.add(place);
    }
    if (places.size > 0) arrivals.tell(places);
    return new Set(unsure ? additions : []);
  }

  /** Says of each what is there already under its identity; what is not there any more stays open. */
  async #compare(repeats: readonly Addition[], mayBeOwn: ReadonlySet<Addition>, results: Results): Promise<void> {
    const { client } = this.#parts;
    const { rows } = await client.query<Evidence>(
      {
        what: "looking for duplicates in the outbox",
        text: `SELECT replace(identity::text, '-', '') AS name, id, digest, status
                 FROM ${client.table("outbox_record")} WHERE identity = ANY ($1::uuid[])`,
        values: [repeats.map(({ name }) => name)],
      },
      this.#signal,
    );
    const found = new Map(rows.map((row) => [row.name, row]));
    for (const addition of repeats) {
      const { record, name } = addition;
      const there = found.get(name);
      if (there === undefined) continue;
      const id = textOf(there.id);
      if (textOf(there.digest) !== record.payloadDigest) results.set(addition, { kind: "conflict" });
      else if (id === record.id && mayBeOwn.has(addition)) results.set(addition, { kind: "persisted" });
      else results.set(addition, { kind: "duplicate", id, status: STATUSES[there.status] ?? "pending" });
    }
  }
}

/** Of records under one identity, the first: the others are its repeats. */
function firstsOf(additions: readonly Addition[]): readonly Addition[] {
  const firsts = new Map<string, Addition>();
  for (const addition of additions) if (!firsts.has(addition.name)) firsts.set(addition.name, addition);
  return [...firsts.values()];
}

function bytesOf(additions: readonly Addition[]): number {
  return additions.reduce((sum, { record }) => sum + payloadBytes(record), 0);
}

/** Whether it is for what a record has in it, and not for the state that the server is in. */
function isRefusal(error: unknown): error is BridgeError {
  return BridgeError.is(error) && (error.code === "REJECTED" || error.code === "PAYLOAD_TOO_LARGE");
}

function tooLarge(): BridgeError {
  const why = `the message is too large for the outbox: its payload may have ${MAX_RECORD_BYTES / 1024 / 1024} MiB`;
  return new BridgeError("PAYLOAD_TOO_LARGE", why, { charged: false });
}
