import type { DeadLetterFilter, Random } from "@bridge/ports";
import type { PostgresClient } from "../client/postgres-client.ts";
import { isPossible } from "./dead-letter-row.ts";
import { DELETIONS, ENTRIES } from "./dlq-tables.ts";
import { bound, type Filtered, filtered } from "./filtered.ts";

/** Entries of one statement: locks are held briefly, and nobody else waits for long. */
const CHUNK = 1_000;
const DELETING = "deleting dead letters";
/** What nobody has forgotten after that was left behind by a process that ended: far longer than a call takes. */
const LEFT_BEHIND = "1 hour";

interface Gone {
  readonly picked: number;
  readonly ids: readonly string[];
}

/**
 * Deletes entries such that of callers who race for one, one is told, also when answers are lost: with the entries that
 * a statement deletes goes a note of them under a mark of its own. Who got no answer looks there; who got one forgets
 * the note with its next statement.
 */
export class Deleting {
  readonly #client: PostgresClient;
  readonly #random: Random;
  readonly #visibleFrom: () => number;
  #toForget: string[] = [];

  /** Entries that failed before `visibleFrom` are not there. */
  constructor(client: PostgresClient, random: Random, visibleFrom: () => number) {
    this.#client = client;
    this.#random = random;
    this.#visibleFrom = visibleFrom;
  }

  async ids(ids: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    signal.throwIfAborted();
    const left = [...new Set(ids)].filter(isPossible);
    const gone = new Set<string>();
    for (let start = 0; start < left.length; start += CHUNK) {
      const { condition, values } = filtered({}, this.#visibleFrom());
      const chunk = left.slice(start, start + CHUNK);
      const which = { condition: `${condition} AND id = ANY($${values.length + 1})`, values: [...values, chunk] };
      for (const id of await this.#chunk(which, chunk.length, signal)) gone.add(id);
    }
    return gone;
  }

  /** The oldest that match, up to `limit`. */
  async matching(filter: DeadLetterFilter, limit: number, signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    if (filter.routeId !== undefined && !isPossible(filter.routeId)) return 0;
    const which = filtered(filter, this.#visibleFrom());
    let deleted = 0;
    while (deleted < limit) {
      const size = Math.min(CHUNK, limit - deleted);
      const count = (await this.#chunk(which, size, signal)).length;
      deleted += count;
      if (count < size) break;
    }
    return deleted;
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

  /** Notes of processes that ended before they forgot them. */
  async forgetLeftBehind(signal: AbortSignal): Promise<void> {
    const text = `DELETE FROM ${this.#client.table(DELETIONS)} WHERE made_at < now() - interval '${LEFT_BEHIND}'`;
    await this.#client.query({ what: "forgetting old deletions", text }, signal);
  }

  /** Rows are locked in one order, whoever deletes: nobody waits in a circle. */
  async #chunk({ condition, values }: Filtered, size: number, signal: AbortSignal): Promise<readonly string[]> {
    const [entries, deletions] = [this.#client.table(ENTRIES), this.#client.table(DELETIONS)];
    const mark = this.#random.id();
    const forgotten = this.#toForget.splice(0, CHUNK);
    const [limit, own, old] = [1, 2, 3].map((n) => `$${values.length + n}`);
    const text = `
      WITH picked AS MATERIALIZED (
        SELECT id FROM ${entries} WHERE ${condition} ORDER BY failed_at, id LIMIT ${limit} FOR UPDATE
      ), gone AS (
        DELETE FROM ${entries} WHERE id IN (SELECT id FROM picked) RETURNING id
      ), noted AS (
        INSERT INTO ${deletions} (mark, ids) SELECT ${own}, array_agg(id) FROM gone HAVING count(*) > 0
      ), forgotten AS (
        DELETE FROM ${deletions} WHERE mark = ANY(${old})
      )
      SELECT (SELECT count(*) FROM picked) AS picked, ARRAY(SELECT id FROM gone) AS ids`;
    const all = [...values, size, mark, forgotten];
    const statement = { what: DELETING, text, values: all };
    const { rows, unsure } = await this.#client.query<Gone>(statement, signal);
    const { picked, ids } = rows[0] ?? { picked: 0, ids: [] };
    // They were locked: a trigger that somebody else has made keeps them, and says nothing.
    if (ids.length < picked) throw this.#client.keptNothing(DELETING);
    const before = unsure ? await this.#noted(mark, signal) : ids;
    this.#toForget.push(mark);
    return before;
  }

  /** What the tries of one statement have deleted together. */
  async #noted(mark: string, signal: AbortSignal): Promise<readonly string[]> {
    const text = `SELECT unnest(ids) AS id FROM ${this.#client.table(DELETIONS)} WHERE mark = $1`;
    const { rows } = await this.#client.query<{ id: string }>(
      { what: "looking what was deleted", text, values: [mark] },
      signal,
    );
    return rows.map(({ id }) => id);
  }
}
