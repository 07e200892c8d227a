import { createTable } from "../../../src/client/create-table.ts";
import { DynamoClient } from "../../../src/client/dynamo-client.ts";
import { type Clock, type OutboxStore, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import type { TestDynamo } from "@bridge/tooling/test-dynamodb";
import { type DynamodbOutboxOptions, openDynamodbOutbox } from "../../../src/outbox/open-dynamodb-outbox.ts";
import { outboxTable } from "../../../src/outbox/outbox-table.ts";

let tables = 0;
const names = new WeakMap<OutboxStore, string>();
const signal = new AbortController().signal;

/** A table of its own. */
export async function makeTable(dynamo: TestDynamo): Promise<string> {
  const name = `outbox-${process.pid}-${++tables}`;
  await using client = new DynamoClient({ clock: systemClock, random: systemRandom(), sdk: dynamo.sdk });
  await createTable(outboxTable(name), client, systemClock, signal);
  return name;
}

/** A handle on a table; requests go by the machine's time. */
export async function openOn(
  dynamo: TestDynamo,
  tableName: string,
  options: {
    readonly clock?: Clock;
    readonly retentionMs?: number;
    readonly dynamo?: DynamodbOutboxOptions["dynamo"];
  } = {},
): Promise<OutboxStore> {
  const { clock = systemClock, retentionMs = 3_600_000 } = options;
  const random = systemRandom();
  // A slow machine must not decide what is throttled or lost.
  const patient = { tryTimeoutMs: 60_000, callTimeoutMs: 110_000 };
  const sdk = { clock: systemClock, random, sdk: dynamo.sdk, ...patient, ...options.dynamo };
  const store = await openDynamodbOutbox(
    { tableName, retentionMs, clock, random, logger: silentLogger, dynamo: sdk },
    signal,
  );
  names.set(store, tableName);
  return store;
}

export function tableOf(store: OutboxStore): string {
  return names.get(store) ?? "";
}
