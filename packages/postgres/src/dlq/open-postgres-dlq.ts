import { type Clock, type DlqAdmin, type DlqStore, type Logger, type Random } from "@bridge/ports";
import { SpoiledEntries } from "@bridge/ports/internal";
import { type ConnectionOptions } from "../client/connection-options.ts";
import { openPostgres } from "../client/migrations.ts";
import { entryOf, type EntryRow, headOf, type HeadRow, isPossible, valuesOf } from "./dead-letter-row.ts";
import { Deleting } from "./deleting.ts";
import { DLQ_TABLES, ENTRIES } from "./dlq-tables.ts";
import { bound, filtered } from "./filtered.ts";
import { sweep } from "./sweep.ts";
import { ENTRY_TRIAL } from "./try-entry.ts";

export interface PostgresDlqOptions {
  /** The server, and the schema with {@link DLQ_TABLES}. */
  readonly connection: ConnectionOptions;
  /** Entries that failed so many milliseconds ago are not there any more. Default: they are kept. */
  readonly retentionMs?: number | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** How long one try may take, in milliseconds. Default: 3 s. */
  readonly tryTimeoutMs?: number | undefined;
}

/**
 * A DLQ store in a table that all instances share. Every call is one statement but those that delete many, which go in
 * chunks of 1,000; each sees all that was written before.
 *
 * @throws BridgeError `DESTINATION_NOT_FOUND` when the tables are missing, `SCHEMA_VIOLATION` when they are of another version
 */
export async function openPostgresDlq(
  { connection, retentionMs, ...seams }: PostgresDlqOptions,
  signal: AbortSignal,
): Promise<DlqStore & { readonly admin: DlqAdmin }> {
  const { clock, random } = seams;
  const client = await openPostgres(connection, DLQ_TABLES, { ...seams, trial: ENTRY_TRIAL }, signal);
  const entries = client.table(ENTRIES);
  const visibleFrom = (): number => (retentionMs === undefined ? -Infinity : clock.now() - retentionMs + 1);
  const deleting = new Deleting(client, random, visibleFrom);
  const sweeping = sweep(deleting, retentionMs !== undefined, seams);
  const spoiled = new SpoiledEntries(seams.logger);
  const columns = "id, route_id, category, failed_at, head, envelope, payload";

  return {
    async put(entry, caller) {
      const replaced = columns.replaceAll(/\w+/g, "excluded.$&");
      const text = `INSERT INTO ${entries} AS there (${columns}) VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (id) DO UPDATE SET (${columns}) = (${replaced}) WHERE there.failed_at < $8`;
      const values = [...valuesOf(entry), bound(visibleFrom())];
      const proof = { text: `SELECT 1 FROM ${entries} WHERE id = $1`, values: [entry.id] };
      await client.query({ what: "writing a dead letter", text, values, proof, lasting: true }, caller);
    },
    async get(id, caller) {
      caller.throwIfAborted();
      if (!isPossible(id)) return undefined;
      const text = `SELECT head, envelope, payload FROM ${entries} WHERE id = $1 AND failed_at >= $2`;
      const values = [id, bound(visibleFrom())];
      const { rows } = await client.query<EntryRow>({ what: "reading a dead letter", text, values }, caller);
      const [row] = rows;
      return row && spoiled.read(id, row, () => entryOf(id, row));
    },
    async list(filter, { limit, offset }, caller) {
      caller.throwIfAborted();
      if (filter.routeId !== undefined && !isPossible(filter.routeId)) return [];
      const { condition, values } = filtered(filter, visibleFrom());
      // What lies before the page is passed over in the index alone.
      const text = `SELECT id, route_id, category, failed_at, head FROM ${entries} JOIN (
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
    admin: {
      async delete(ids, caller) {
        const gone = await deleting.ids(ids, caller);
        spoiled.deleted(gone);
        return gone;
      },
      async deleteWhere(filter, limit = Infinity, caller) {
        const count = await deleting.matching(filter, limit, caller);
        spoiled.deleted();
        return count;
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
