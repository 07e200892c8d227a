import assert from "node:assert/strict";
import { createRegistry, parseConfig } from "@bridge/config";
import { createSupervisor } from "@bridge/core";
import { testDynamo } from "@bridge/tooling/test-dynamodb";
import { memoryHub, memory } from "@bridge/transport-memory";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { dynamodbDlqPlugin } from "../src/dynamodb-dlq-plugin.ts";
import { deadLetter } from "./support/dead-letter.ts";
import { makeTable, openDlq } from "./support/dlq-tables.ts";

const dynamo = await testDynamo();
afterAll(() => dynamo[Symbol.asyncDispose]());

/** More than the parts of an entry hold. */
const TOO_MANY_BYTES = 40 * 1_048_576;
const { signal } = new AbortController();

beforeEach(() => {
  vi.stubEnv("AWS_REGION", dynamo.sdk.region);
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", dynamo.endpoint);
  vi.stubEnv("AWS_ACCESS_KEY_ID", "id");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
});
afterEach(() => vi.unstubAllEnvs());

test("ids that no key can hold are refused, and are nowhere", async () => {
  await using store = await openDlq(dynamo, await makeTable(dynamo));
  for (const id of ["", "x".repeat(1_001)]) {
    await assert.rejects(store.put(deadLetter(id), signal), { code: "PAYLOAD_TOO_LARGE" });
    expect(await store.get(id, signal)).toBeUndefined();
    expect(await store.admin.delete([id], signal)).toEqual(new Set());
  }
  const longest = deadLetter("x".repeat(1_000));
  await store.put(longest, signal);
  expect(await store.list({}, { limit: 1, offset: 0 }, signal)).toMatchObject([{ id: longest.id }]);
});

async function runBridge(table: string, policy: object) {
  const hub = memoryHub();
  const registry = createRegistry({ transports: [memory(hub)], dlqStores: [dynamodbDlqPlugin] });
  const document = {
    bridge: { id: "b", quiesce_timeout: "1ms" },
    stores: { dlq: { type: "dynamodb", options: { table_name: table } } },
    receivers: [{ id: "in", transport: "memory", options: { channel: "in" } }],
    senders: [{ id: "out", transport: "memory" }],
    bindings: [{ id: "to", sender_id: "out", address: "out/{device}" }],
    routes: [{ id: "r", receiver_id: "in", bindings: ["to"], policy: { max_in_flight: 2, ...policy } }],
  };
  const supervisor = createSupervisor({ config: parseConfig(document, registry), registry });
  await supervisor.start(signal);
  return { hub, supervisor };
}

// A message without the header that its address needs fails permanently.
const LARGE = { id: "large", payload: new Uint8Array(TOO_MANY_BYTES) };
const SMALL = { id: "small", payload: "small" };

test("a message whose dead letter is too large stays at its source, holds one slot, and comes again after a restart", async () => {
  const table = await makeTable(dynamo);
  const { hub, supervisor } = await runBridge(table, { backoff: { initial_interval: "50ms", max_interval: "50ms" } });
  hub.publish("in", LARGE);
  hub.publish("in", SMALL);
  hub.publish("in", { id: "good", payload: "good", headers: { device: "d1" } });
  const settled = await hub.channel("in").waitForSettlements(2, signal);
  expect(new Set(settled.map(({ message }) => message.id))).toEqual(new Set(["good", "small"]));
  await expect.poll(() => supervisor.stats().routes[0]?.dlqWriteFailures).toBeGreaterThan(2);
  expect(hub.channel("in")).toMatchObject({ accepted: 2, unsettled: 1 });
  expect(hub.channel("out/d1").arrived).toBe(1);
  expect(supervisor.view().level).not.toBe("full");

  await supervisor.shutdown();
  expect(
    hub
      .channel("in")
      .messages()
      .map(({ id }) => id),
  ).toEqual(["large"]);
  await using store = await openDlq(dynamo, table);
  expect(await store.list({}, { limit: 10, offset: 0 }, signal)).toMatchObject([{ routeId: "r", bindingId: "to" }]);
});

test("with on_permanent_failure: drop it goes by the policy, and is counted", async () => {
  const { hub, supervisor } = await runBridge(await makeTable(dynamo), { on_permanent_failure: "drop" });
  hub.publish("in", LARGE);
  await hub.channel("in").waitForSettlements(1, signal);
  const leg = supervisor.stats().legs.find(({ bindingId }) => bindingId === "to");
  expect(leg?.dispositions).toMatchObject({ dropped: 1, dead_lettered: 0 });
  await supervisor.shutdown();
});
