import { BridgeError, CallLimit, type OutboxStore, type Seams } from "@bridge/ports";
import { type ConnectionOptions, openPostgres, type PostgresOptions } from "@bridge/postgres-kit";
import { sweepEvery } from "@bridge/store-kit";
import { Arrivals } from "./arrivals.ts";
import { Astray } from "./astray.ts";
import { claim } from "./claim.ts";
import { claimOne } from "./claim-one.ts";
import { Contents } from "./contents.ts";
import { Finishes } from "./finishes.ts";
import { Forgetting } from "./forget.ts";
import { Instances } from "./instances.ts";
import { Lanes } from "./lanes.ts";
import { redriving, Statuses } from "./look-up.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { OUTBOX_MIGRATIONS } from "./outbox-tables.ts";
import { Persists } from "./persists.ts";
import { tryRecord } from "./try-record.ts";
import { backlog, list } from "./views.ts";

/** Finished records may stay this much longer than they have to. */
const SWEEP_MS = 60_000;
/** Instances come and go less often than records. */
const INSTANCES_MS = 3_600_000;

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
 * resolves; calls that overlap share a statement. Loans are in the tables too, each measured by the clock of the process
 * that has it. While the server is away calls are tried again, for 20 s; then they reject.
 *
 * @throws BridgeError `DESTINATION_NOT_FOUND` when the tables are not there, `SCHEMA_VIOLATION` when they are of another
 * version, or the database does not hold every text
 */
export async function openPostgresOutbox(options: PostgresOutboxOptions, signal: AbortSignal): Promise<OutboxStore> {
  const { connection, retentionMs, clock, random, logger, postgres } = options;
  const client = await openPostgres(
    connection,
    OUTBOX_MIGRATIONS,
    { clock, random, logger, trial: tryRecord, ...postgres },
    signal,
  );
  const instances = new Instances(client, clock, random);
  const lanes = new Lanes(client, new Astray(client, logger));
  const claimer = random.id();
  const arrivals = new Arrivals(client, { instances, lanes, clock: postgres?.clock ?? clock, self: claimer });
  const contents = new Contents();
  const claims = new CallLimit(CLAIM);
  const parts: OutboxParts = { client, claimer, instances, lanes, contents, claims, arrivals, clock, random, logger };
  const [persists, finishes, statuses] = [new Persists(parts), new Finishes(parts), new Statuses(parts)];
  const forgetting = new Forgetting(parts);
  const sweeps = [
    sweepEvery(SWEEP_MS, async (end) => void (await forgetting.records(clock.now() - retentionMs, end)), options),
    sweepEvery(INSTANCES_MS, (end) => forgetting.instances(end), options),
  ];
  let closed = false;

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
      return claim(parts, request, bound);
    },
    async claimOne(id, loanMs, bound) {
      begin(bound);
      return claimOne(parts, id, loanMs, bound);
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
      await lanes.bringHome(bound);
      return backlog(parts, bound);
    },
    async list(filter, page, bound) {
      begin(bound);
      return list(parts, filter, page, bound);
    },
    health: () => client.health(),
    prove: () => client.prove(),
    async [Symbol.asyncDispose]() {
      closed = true;
      instances[Symbol.dispose]();
      await Promise.all(sweeps.map((sweep) => sweep[Symbol.asyncDispose]()));
      await arrivals[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
    },
  };
}
