import type { DeadLetterFilter } from "@bridge/ports";
import type { PostgresClient } from "../client/postgres-client.ts";
import type { Changes } from "./changes.ts";
import { isPossible } from "./dead-letter-row.ts";
import { ENTRIES, saysId, TRASH } from "./dlq-tables.ts";
import { bound, type Filtered, filtered } from "./filtered.ts";

/** Entries of one statement: locks are held briefly, and nobody else waits for long. */
const CHUNK = 1_000;

/** Deletes entries such that of callers who race for one, one is told, also when answers are lost. */
export class Deleting {
  readonly #client: PostgresClient;
  readonly #changes: Changes;
  readonly #visibleFrom: () => number;

  /** Entries that failed before `visibleFrom` are not there. */
  constructor(client: PostgresClient, changes: Changes, visibleFrom: () => number) {
    this.#client = client;
    this.#changes = changes;
    this.#visibleFrom = visibleFrom;
  }

  async ids(ids: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    signal.throwIfAborted();
    const gone = new Set<string>();
    for (const chunk of chunksOf(ids)) {
      const which = ofIds(chunk, this.#visibleFrom());
      for (const id of await this.#chunk(which, signal)) gone.add(id);
    }
    return gone;
  }

  /** With what the trash has of them. Returns those that were there. */
  async delivered(ids: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    signal.throwIfAborted();
    const gone = new Set<string>();
    for (const chunk of chunksOf(ids)) {
      for (const id of await this.#withTrash(chunk, signal)) gone.add(id);
      // What somebody else was moving there or back has arrived by now: who waits for a lock sees nothing that came in its place.
      const left = chunk.filter((id) => !gone.has(id));
      if (left.length > 0) for (const id of await this.#withTrash(left, signal)) gone.add(id);
    }
    return gone;
  }

  /**
   * The oldest that match, up to `limit`. They are looked for first and deleted by their ids: a statement that does both, and is made again
   * because its answer was lost, would take as many once more.
   */
  async matching(filter: DeadLetterFilter, limit: number, signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    if (filter.routeId !== undefined && !isPossible(filter.routeId)) return 0;
    let deleted = 0;
    while (deleted < limit) {
      const size = Math.min(CHUNK, limit - deleted);
      const ids = await this.#oldest(filter, size, signal);
      deleted += (await this.ids(ids, signal)).size;
      if (ids.length < size) break;
    }
    return deleted;
  }

  async #oldest(filter: DeadLetterFilter, size: number, signal: AbortSignal): Promise<readonly string[]> {
    const { condition, values } = filtered(filter, this.#visibleFrom());
    const text = `SELECT id FROM ${this.#client.table(ENTRIES)} WHERE ${condition}
      ORDER BY failed_at, id LIMIT $${values.length + 1}`;
    const statement = { what: "looking for dead letters to delete", text, values: [...values, size] };
    return (await this.#client.query<{ id: string }>(statement, signal)).rows.map(({ id }) => id);
  }

  /** Entries whose retention is over, in silence: nobody needs to be told of each. Returns how many. */
  async expired(signal: AbortSignal): Promise<number> {
    const text = `DELETE FROM ${this.#client.table(ENTRIES)} WHERE id IN (
      SELECT id FROM ${this.#client.table(ENTRIES)} WHERE failed_at < $1
      ORDER BY failed_at, id LIMIT ${CHUNK} FOR UPDATE SKIP LOCKED)`;
    let deleted = 0;
    for (;;) {
      const values = [bound(this.#visibleFrom())];
      const { count } = await this.#client.query({ what: "deleting expired dead letters", text, values }, signal);
      deleted += count;
      if (count < CHUNK) return deleted;
    }
  }

  /** Batches of the trash are few, and each has an index by ids. Another entry that somebody has given such an id stays there. */
  #withTrash(ids: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
    const [entries, trash] = [ENTRIES, TRASH].map((name) => this.#client.table(name));
    const which = ofIds(ids, this.#visibleFrom());
    const queries = `RECURSIVE batches (batch) AS (
        (SELECT batch FROM ${trash} ORDER BY batch LIMIT 1)
        UNION ALL
        SELECT (SELECT batch FROM ${trash} AS next WHERE next.batch > batches.batch ORDER BY batch LIMIT 1)
          FROM batches WHERE batches.batch IS NOT NULL
      ), taken AS MATERIALIZED (
        SELECT found.batch, found.id FROM batches CROSS JOIN LATERAL (
          SELECT batch, id FROM ${trash} AS one
           WHERE one.batch = batches.batch AND id = ANY($${which.values.length}) AND ${saysId("one")}
           ORDER BY id FOR UPDATE
        ) AS found
      ), erased AS (
        DELETE FROM ${trash} WHERE (batch, id) IN (SELECT batch, id FROM taken)
      ), ${picked(entries ?? "", which)}, changed AS (
        DELETE FROM ${entries} WHERE id IN (SELECT id FROM picked) RETURNING id
      )`;
    return this.#changes.make({ what: "deleting dead letters", queries, values: which.values }, signal);
  }

  #chunk(which: Filtered, signal: AbortSignal): Promise<readonly string[]> {
    const entries = this.#client.table(ENTRIES);
    const queries = `${picked(entries, which)}, changed AS (
        DELETE FROM ${entries} WHERE id IN (SELECT id FROM picked) RETURNING id
      )`;
    return this.#changes.make({ what: "deleting dead letters", queries, values: which.values }, signal);
  }
}

/** Those of the ids that can be there, each once, so many at a time. */
export function chunksOf(ids: Iterable<string>): readonly (readonly string[])[] {
  const left = [...new Set(ids)].filter(isPossible);
  return Array.from({ length: Math.ceil(left.length / CHUNK) }, (_, n) => left.slice(n * CHUNK, (n + 1) * CHUNK));
}

/** Which rows have these ids, without those that failed before `visibleFrom`. */
export function ofIds(ids: readonly string[], visibleFrom: number): Filtered {
  const { condition, values } = filtered({}, visibleFrom);
  return { condition: `${condition} AND id = ANY($${values.length + 1})`, values: [...values, ids] };
}

/** Of a change, the query of the rows that it is about. They are locked in one order, whoever changes: nobody waits in a circle. */
export function picked(entries: string, { condition }: Filtered): string {
  return `picked AS MATERIALIZED (
        SELECT id FROM ${entries} WHERE ${condition} ORDER BY failed_at, id FOR UPDATE
      )`;
}
