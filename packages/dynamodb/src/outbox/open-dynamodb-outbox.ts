import { type DynamoOptions } from "../client/dynamo-client.ts";
import { openTable } from "../client/open-table.ts";
import { BridgeError, type OutboxStore, type Seams } from "@bridge/ports";
import { claim } from "./claim.ts";
import { claimOne } from "./claim-one.ts";
import { finish } from "./finish.ts";
import { Groups } from "./groups.ts";
import { Items } from "./items.ts";
import { Lanes } from "./lanes.ts";
import { redriving, status } from "./look-up.ts";
import { Orders } from "./orders.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { outboxTable } from "./outbox-table.ts";
import { persist } from "./persist.ts";
import { Recent } from "./recent.ts";
import { SpoiledRecords } from "./spoiled-records.ts";
import { timelineOf } from "./timeline.ts";
import { backlog, blockedKeys, list } from "./views.ts";

const REMEMBERED = 50_000;

export interface DynamodbOutboxOptions extends Seams {
  readonly tableName: string;
  /** How long finished records stay as evidence against duplicates, in milliseconds. */
  readonly retentionMs: number;
  /** How the service is reached. Default: as the AWS SDK finds it, with the bounds of the kit. */
  readonly dynamo?: Partial<DynamoOptions> | undefined;
}

/**
 * An outbox in a table that any number of processes share. What is persisted or finished is in the table when the call
 * resolves. Loans are in the table too; each process measures them with its own clock.
 *
 * @throws BridgeError `DESTINATION_NOT_FOUND` when there is no such table or no region, `SCHEMA_VIOLATION` when the table
 * has another form
 */
export async function openDynamodbOutbox(options: DynamodbOutboxOptions, signal: AbortSignal): Promise<OutboxStore> {
  const { tableName, retentionMs, clock, random, logger, dynamo } = options;
  const client = await openTable(outboxTable(tableName), { clock, random, logger, ...dynamo }, signal);
  const items = new Items(tableName, client, { clock: dynamo?.clock ?? clock, random });
  const timeline = timelineOf(clock, random);
  const seenAt = new Recent<string, number>(REMEMBERED);
  const parts: OutboxParts = {
    items,
    groups: new Groups(items, clock, random),
    orders: new Orders(items),
    lanes: new Lanes(items, { timeline, seenAt, random }),
    spoiled: new SpoiledRecords(),
    timeline,
    keys: new Recent(REMEMBERED),
    seenAt,
    retentionMs,
    clock,
    random,
    logger,
  };
  const over = new AbortController();
  let closed = false;

  function begin(bound: AbortSignal): OutboxParts {
    bound.throwIfAborted();
    if (closed) throw new BridgeError("UNAVAILABLE", "the outbox is closed");
    return parts;
  }

  return {
    shared: true,
    persist: async (records, bound) => persist(begin(bound), records, bound),
    claim: async (request, bound) => claim(begin(bound), request, bound),
    claimOne: async (id, loanMs, bound) => claimOne(begin(bound), id, loanMs, bound),
    finish: async (ends, bound) => finish(begin(bound), ends, bound),
    status: async (id, bound) => status(begin(bound), id, bound),
    redriving: async (entryId, bound) => redriving(begin(bound), entryId, bound),
    backlog: async (bound) => backlog(begin(bound), bound),
    blockedKeys: async (filter, limit, bound) => blockedKeys(begin(bound), filter, limit, bound),
    list: async (filter, page, bound) => list(begin(bound), filter, page, bound),
    health: () => ({ ...client.health(), ...parts.spoiled.health() }),
    prove: () => client.prove(),
    acknowledgeDamage: () => parts.spoiled.acknowledge(parts, over.signal),
    async [Symbol.asyncDispose]() {
      closed = true;
      over.abort(new BridgeError("UNAVAILABLE", "the outbox is closed"));
      await client[Symbol.asyncDispose]();
    },
  };
}
