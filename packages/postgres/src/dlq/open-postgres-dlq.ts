import type { Clock, DlqAdmin, DlqStore, Logger, Random } from "@bridge/ports";
import { demandPage, SpoiledEntries } from "@bridge/ports/internal";
import { type ConnectionOptions } from "../client/connection-options.ts";
import { openPostgres } from "../client/migrations.ts";
import { Changes } from "./changes.ts";
import { entryOf, type EntryRow, HEAD_COLUMNS, headOf, type HeadRow, isPossible, valuesOf } from "./dead-letter-row.ts";
import { Deleting } from "./deleting.ts";
import { COLUMNS, DLQ_TABLES, ENTRIES } from "./dlq-tables.ts";
import { PostgresFacets } from "./facets.ts";
import { bound, filtered } from "./filtered.ts";
import { Marking } from "./marking.ts";
import { pageOf } from "./paging.ts";
import { PostgresJobs } from "./postgres-jobs.ts";
import { sweep } from "./sweep.ts";
import { excluded, Trash } from "./trash.ts";
import { ENTRY_TRIAL } from "./try-entry.ts";

const FACETS_KEPT_MS = 5_000;

export interface PostgresDlqOptions {
  /** The server, and the schema with {@link DLQ_TABLES}. */
  readonly connection: ConnectionOptions;
  /** Entries that failed so many milliseconds ago are not there any more. Default: they are kept. */
  readonly retentionMs?: number | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** How long an answer to `facets` is good, in milliseconds. Default: 5 s. */
  readonly facetsKeptMs?: number | undefined;
  /** How long one try may take, in milliseconds. Default: 3 s. */
  readonly tryTimeoutMs?: number | undefined;
}

/** It has all that a store may have. */
export type PostgresDlq = DlqStore &
  Required<Pick<DlqStore, "page" | "facets" | "marks" | "jobs">> & { readonly admin: Required<DlqAdmin> };

/**
 * A DLQ store in tables that all instances share. Every call is one statement but those that read or change many entries, which
 * go in chunks of 1,000, and marks, which are read before they are changed; each sees all that was written before, but for
 * facets, which are kept for 5 s.
 *
 * @throws BridgeError `DESTINATION_NOT_FOUND` when the tables are missing, `SCHEMA_VIOLATION` when they are of another version
 */
export async function openPostgresDlq(
  { connection, retentionMs, facetsKeptMs = FACETS_KEPT_MS, ...seams }: PostgresDlqOptions,
  signal: AbortSignal,
): Promise<PostgresDlq> {
  const { clock, random } = seams;
  const client = await openPostgres(connection, DLQ_TABLES, { ...seams, trial: ENTRY_TRIAL }, signal);
  const entries = client.table(ENTRIES);
  const visibleFrom = (): number => (retentionMs === undefined ? -Infinity : clock.now() - retentionMs + 1);
  const changes = new Changes(client, random);
  const deleting = new Deleting(client, changes, visibleFrom);
  const marking = new Marking(client, changes, visibleFrom);
  const trash = new Trash({ client, changes, marking }, visibleFrom, clock);
  const sweeping = sweep({ changes, trash, retention: retentionMs === undefined ? undefined : deleting }, seams);
  const paging = { client, clock, visibleFrom };
  const facets = new PostgresFacets(paging, facetsKeptMs);
  const spoiled = new SpoiledEntries(seams.logger);

  return {
    async put(entry, caller) {
      const values = valuesOf(entry);
      const places = values.map((_, n) => `$${n + 1}`).join(", ");
      const text = `INSERT INTO ${entries} AS there (${COLUMNS}) VALUES (${places})
        ON CONFLICT (id) DO UPDATE SET (${COLUMNS}) = (${excluded(COLUMNS)}) WHERE there.failed_at < $${values.length + 1}`;
      const proof = { text: `SELECT 1 FROM ${entries} WHERE id = $1`, values: [entry.id] };
      const statement = { what: "writing a dead letter", text, values: [...values, bound(visibleFrom())] };
      await client.query({ ...statement, proof, lasting: true }, caller);
    },
    async get(id, caller) {
      caller.throwIfAborted();
      if (!isPossible(id)) return undefined;
      const text = `SELECT head, marks, envelope, payload FROM ${entries} WHERE id = $1 AND failed_at >= $2`;
      const values = [id, bound(visibleFrom())];
      const { rows } = await client.query<EntryRow>({ what: "reading a dead letter", text, values }, caller);
      const [row] = rows;
      return row && spoiled.read(id, row, () => entryOf(id, row));
    },
    async list(filter, page, caller) {
      caller.throwIfAborted();
      demandPage(page);
      const { limit, offset } = page;
      if (filter.routeId !== undefined && !isPossible(filter.routeId)) return [];
      const { condition, values } = filtered(filter, visibleFrom());
      // What lies before the page is passed over in the index alone.
      const text = `SELECT ${HEAD_COLUMNS} FROM ${entries} JOIN (
          SELECT id FROM ${entries} WHERE ${condition} ORDER BY failed_at, id
          LIMIT $${values.length + 1} OFFSET $${values.length + 2}
        ) AS page USING (id) ORDER BY failed_at, id`;
      const statement = { what: "listing dead letters", text, values: [...values, limit, offset] };
      return (await client.query<HeadRow>(statement, caller)).rows.map(headOf);
    },
    async count(cap, caller) {
      const { condition, values } = filtered({}, visibleFrom());
      const text = `SELECT count(*) AS count FROM (
        SELECT 1 FROM ${entries} WHERE ${condition} LIMIT $${values.length + 1}) AS counted`;
      const statement = { what: "counting dead letters", text, values: [...values, cap] };
      return (await client.query<{ count: number }>(statement, caller)).rows[0]?.count ?? 0;
    },
    page: (query, page, caller) => pageOf(query, page, paging, caller),
    facets: (request, caller) => facets.get(request, caller),
    marks: marking,
    jobs: new PostgresJobs(client, changes),
    admin: {
      async delete(ids, caller, { delivered = false } = {}) {
        const gone = await (delivered ? deleting.delivered(ids, caller) : deleting.ids(ids, caller));
        spoiled.deleted(gone);
        return gone;
      },
      async deleteWhere(filter, limit = Infinity, caller) {
        const count = await deleting.matching(filter, limit, caller);
        spoiled.deleted();
        return count;
      },
      trash: {
        async move(ids, batch, until, caller) {
          const gone = await trash.move(ids, batch, until, caller);
          spoiled.deleted(gone);
          return gone;
        },
        restore: (batch, limit, caller) => trash.restore(batch, limit, caller),
        count: (cap, caller, batch) => trash.count(cap, caller, batch),
      },
    },
    health: () => ({ ...client.health(), ...spoiled.health() }),
    prove: () => client.prove(),
    async [Symbol.asyncDispose]() {
      await sweeping[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
    },
  };
}
