import type { Clock, DlqTrash } from "@bridge/ports";
import type { PostgresClient } from "../client/postgres-client.ts";
import type { Changes } from "./changes.ts";
import { isPossible } from "./dead-letter-row.ts";
import { chunksOf, ofIds, picked } from "./deleting.ts";
import { COLUMNS, ENTRIES, TRASH } from "./dlq-tables.ts";
import { bound } from "./filtered.ts";

/** Entries of one statement. */
const CHUNK = 1_000;

/** Entries that were deleted and can be taken back: rows that are moved to a table of their own, and back. */
export class Trash implements DlqTrash {
  readonly #client: PostgresClient;
  readonly #changes: Changes;
  readonly #visibleFrom: () => number;
  readonly #clock: Clock;

  /** Entries that failed before `visibleFrom` are not there. */
  constructor(client: PostgresClient, changes: Changes, visibleFrom: () => number, clock: Clock) {
    this.#client = client;
    this.#changes = changes;
    this.#visibleFrom = visibleFrom;
    this.#clock = clock;
  }

  async move(ids: readonly string[], batch: string, until: number, signal: AbortSignal): Promise<ReadonlySet<string>> {
    signal.throwIfAborted();
    const [entries, trash] = [ENTRIES, TRASH].map((name) => this.#client.table(name));
    const moved = new Set<string>();
    for (const chunk of chunksOf(ids)) {
      const which = ofIds(chunk, this.#visibleFrom());
      const [name, end] = [1, 2].map((n) => `$${which.values.length + n}`);
      // Of a batch that has an entry of the same id already, the later one is kept.
      const queries = `${picked(entries ?? "", which)}, gone AS (
          DELETE FROM ${entries} WHERE id IN (SELECT id FROM picked) RETURNING ${COLUMNS}
        ), changed AS (
          INSERT INTO ${trash} (batch, until, ${COLUMNS}) SELECT ${name}, ${end}::bigint, ${COLUMNS} FROM gone
          ON CONFLICT (batch, id) DO UPDATE SET (until, ${COLUMNS}) = (${excluded(`until, ${COLUMNS}`)}) RETURNING id
        )`;
      const values = [...which.values, batch, bound(until)];
      const change = { what: "moving to the trash", queries, values, whole: true };
      for (const id of await this.#changes.make(change, signal)) moved.add(id);
    }
    return moved;
  }

  async restore(batch: string, limit: number, signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    if (!isPossible(batch)) return 0;
    const [entries, trash] = [ENTRIES, TRASH].map((name) => this.#client.table(name));
    let restored = 0;
    while (restored < limit) {
      const size = Math.min(CHUNK, limit - restored);
      // Of an id that has been written again meanwhile the entry that is there stays: it is only named.
      const queries = `picked AS MATERIALIZED (
          SELECT id FROM ${trash} WHERE batch = $1 AND until > $2 ORDER BY id LIMIT $3 FOR UPDATE
        ), gone AS (
          DELETE FROM ${trash} WHERE batch = $1 AND id IN (SELECT id FROM picked) RETURNING ${COLUMNS}
        ), changed AS (
          INSERT INTO ${entries} AS there (${COLUMNS}) SELECT ${COLUMNS} FROM gone
          ON CONFLICT (id) DO UPDATE SET id = there.id RETURNING id
        )`;
      const values = [batch, bound(this.#clock.now()), size];
      const change = { what: "restoring from the trash", queries, values, whole: true };
      const count = (await this.#changes.make(change, signal)).length;
      restored += count;
      if (count < size) break;
    }
    return restored;
  }

  async count(cap: number, signal: AbortSignal): Promise<number> {
    const text = `SELECT count(*) AS count FROM (
      SELECT 1 FROM ${this.#client.table(TRASH)} WHERE until > $1 LIMIT $2) AS counted`;
    const statement = { what: "counting the trash", text, values: [bound(this.#clock.now()), cap] };
    return (await this.#client.query<{ count: number }>(statement, signal)).rows[0]?.count ?? 0;
  }

  /** What is over its time. */
  async erase(signal: AbortSignal): Promise<void> {
    const trash = this.#client.table(TRASH);
    const text = `DELETE FROM ${trash} WHERE (batch, id) IN (
      SELECT batch, id FROM ${trash} WHERE until <= $1 LIMIT ${CHUNK} FOR UPDATE SKIP LOCKED)`;
    for (;;) {
      const statement = { what: "emptying the trash", text, values: [bound(this.#clock.now())] };
      if ((await this.#client.query(statement, signal)).count < CHUNK) return;
    }
  }
}

/** The same columns of the row that could not be inserted. */
export function excluded(columns: string): string {
  return columns.replaceAll(/\w+/g, "excluded.$&");
}
