import { BridgeError, type OutboxStore, type Seams } from "@bridge/ports";
import { CallLimit, sweepEvery } from "@bridge/ports/internal";
import { type ConnectionOptions } from "../client/connection-options.ts";
import { openPostgres } from "../client/migrations.ts";
import { type PostgresOptions } from "../client/postgres-client.ts";
import { Arrivals } from "./arrivals.ts";
import { Claims } from "./claims.ts";
import { Contents } from "./contents.ts";
import { Finishes } from "./finishes.ts";
import { forget } from "./forget.ts";
import { redriving, Statuses } from "./look-up.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { OUTBOX_MIGRATIONS } from "./outbox-tables.ts";
import { Persists } from "./persists.ts";
import { Places } from "./places.ts";
import { findMisplaced } from "./misplaced.ts";
import { SpoiledRecords } from "./spoiled-records.ts";
import { RECORD_TRIAL } from "./try-record.ts";
import { backlog, blockedKeys, list } from "./views.ts";

/** Finished records may stay this much longer than they have to. */
const SWEEP_MS = 60_000;

/** A claim that would lend more is cut short. */
const CLAIM = { items: 1_000, bytes: 8 * 1024 * 1024 } as const;

export interface PostgresOutboxOptions extends Seams {
  readonly connection: ConnectionOptions;
  /** How long finished records stay as evidence against duplicates, in milliseconds. */
  readonly retentionMs: number;
  /** How statements are bounded. Default: as the kit has it, by `clock`. */
  readonly postgres?: Partial<PostgresOptions> | undefined;
}

/**
 * An outbox in tables that any number of processes share. What is persisted or finished is committed when the call
 * resolves; calls that overlap share a statement. Loans are in the tables too, and end at a time of the server's clock. While
 * the server is away calls are tried again, for 20 s; then they reject.
 *
 * @throws BridgeError `DESTINATION_NOT_FOUND` when the tables are not there, `SCHEMA_VIOLATION` when they are of another
 * version, or the database does not hold every text
 */
export async function openPostgresOutbox(options: PostgresOutboxOptions, signal: AbortSignal): Promise<OutboxStore> {
  const { connection, retentionMs, clock, random, logger, postgres } = options;
  const client = await openPostgres(
    connection,
    OUTBOX_MIGRATIONS,
    { clock, random, logger, trial: RECORD_TRIAL, ...postgres },
    signal,
  );
  const places = new Places();
  const arrivals = new Arrivals(client, { places, clock: postgres?.clock ?? clock, self: random.id() });
  const claims = new CallLimit(CLAIM);
  const contents = new Contents();
  const spoiled = new SpoiledRecords(client, { clock, logger });
  const parts: OutboxParts = { client, places, contents, claims, arrivals, spoiled, clock, random, logger };
  const [persists, finishes, statuses] = [new Persists(parts), new Finishes(parts), new Statuses(parts)];
  const lending = new Claims(parts, finishes);
  const sweep = sweepEvery(SWEEP_MS, lookAfter, options);
  let closed = false;

  async function lookAfter(end: AbortSignal): Promise<void> {
    await findMisplaced(parts, end);
    await forget(client, retentionMs, end);
  }

  function begin(bound: AbortSignal): void {
    bound.throwIfAborted();
    if (closed) throw new BridgeError("UNAVAILABLE", "the outbox is closed");
  }

  return {
    shared: true,
    onArrival: (place, arrived) => arrivals.listen(place, arrived),
    async persist(records, bound) {
      begin(bound);
      return records.length === 0 ? [] : persists.add(records, bound);
    },
    async claim(request, bound) {
      begin(bound);
      return lending.claim(request, bound);
    },
    async claimOne(id, loanMs, bound) {
      begin(bound);
      return lending.claimOne(id, loanMs, bound);
    },
    async finish(ends, bound) {
      begin(bound);
      return ends.length === 0 ? [] : finishes.add(ends, bound);
    },
    async status(id, bound) {
      begin(bound);
      return statuses.of(id, bound);
    },
    async redriving(entryId, bound) {
      begin(bound);
      return redriving(parts, entryId, bound);
    },
    async backlog(bound) {
      begin(bound);
      return backlog(parts, bound);
    },
    async blockedKeys(filter, limit, bound) {
      begin(bound);
      return blockedKeys(parts, filter, limit, bound);
    },
    async list(filter, page, bound) {
      begin(bound);
      return list(parts, filter, page, bound);
    },
    health: () => ({ ...client.health(), ...spoiled.health() }),
    prove: () => client.prove(),
    acknowledgeDamage: () => spoiled.acknowledge(),
    async [Symbol.asyncDispose]() {
      closed = true;
      await sweep[Symbol.asyncDispose]();
      await arrivals[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
    },
  };
}
