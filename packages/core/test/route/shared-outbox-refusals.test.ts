import { openMemoryDlq } from "@bridge/dlq-memory";
import { openMemoryOutbox } from "@bridge/memory";
import { BridgeError, type OutboxStore, type PersistResult, silentLogger, systemRandom } from "@bridge/ports";
import { expect, test } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, memoryBridge, type MemoryBridgeOptions } from "../support/memory-bridge.ts";

/** A memory outbox that answers a write of other bindings than `kept` with `result`. */
function outboxThat(result: PersistResult, kept: readonly string[] = []): OutboxStore {
  const clock = new FakeClock();
  const inner = openMemoryOutbox({ maxRecords: 100, retentionMs: 3_600_000, clock, random: systemRandom() });
  return {
    ...inner,
    async persist(records, signal) {
      const results = await inner.persist(
        records.filter(({ bindingId }) => kept.includes(bindingId)),
        signal,
      );
      return records.map(({ bindingId }) => (kept.includes(bindingId) ? (results[0] ?? result) : result));
    },
  };
}

async function given(options: MemoryBridgeOptions) {
  const lines: (object | undefined)[] = [];
  const logger = {
    ...silentLogger,
    error: (_: string, fields?: object) => void lines.push(fields),
    child: () => logger,
  };
  const dlq = openMemoryDlq({ maxEntries: 10 });
  const bridge = memoryBridge({ deliveryMode: "shared_outbox", logger, dlq, ...options });
  await bridge.supervisor.start(bound());
  bridge.hub.publish("in", { id: "m1" });
  const [settled] = await bridge.hub.channel("in").waitForSettlements(1, bound());
  const [entry, ...others] = await dlq.list({}, { limit: 10, offset: 0 }, bound());
  return { ...bridge, lines, settled: settled?.settlement, entry, others };
}

test.each(["UNAVAILABLE", "PAYLOAD_TOO_LARGE", "FORBIDDEN"] as const)(
  "a message that the outbox will never take follows on_permanent_failure, whatever its store calls that: %s",
  async (code) => {
    const outbox = outboxThat({ kind: "refused", error: new BridgeError(code, "not this one") });
    const { supervisor, settled, entry, others } = await given({ outbox });
    expect(settled).toMatchObject({ kind: "accept", outcome: "dead_lettered" });
    expect(entry).toMatchObject({
      bindingId: "out",
      errorCode: code === "UNAVAILABLE" ? "REJECTED" : code,
      lastError: "not this one",
      attempts: 0,
    });
    expect(others).toEqual([]);
    await supervisor.shutdown();
  },
);

test("an address that cannot be worked out goes into no outbox: the leg fails by the policy, the others are delivered", async () => {
  const { supervisor, hub, clock, settled, entry, others, lines } = await given({
    dispatchMode: "fan_out",
    bindings: ["a", "b"],
    config: (config) => ({
      ...config,
      bindings: config.bindings.map((one) => (one.id === "a" ? { ...one, address: "a/{device}" } : one)),
    }),
  });
  expect(settled).toMatchObject({ kind: "accept", outcome: "dead_lettered" });
  expect(entry).toMatchObject({ bindingId: "a", errorCode: "BINDING_UNRESOLVED", attempts: 0 });
  expect([others, lines]).toEqual([[], []]);
  await clock.until(() => hub.channel("b").arrived === 1);
  expect(supervisor.stats().unaccounted).toBe(0);
  await supervisor.shutdown();
});

test("when no leg has an address the outbox is asked nothing, and whose mistake it is is logged", async () => {
  const writes: number[] = [];
  const inner = outboxThat({ kind: "persisted" });
  const outbox: OutboxStore = {
    ...inner,
    persist: (records, signal) => {
      writes.push(records.length);
      return inner.persist(records, signal);
    },
  };
  const { supervisor, settled, entry, lines } = await given({
    outbox,
    transports: (memory) => [
      {
        ...memory,
        type: "rude",
        sender: {
          ...memory.sender,
          create: (options, context) =>
            Object.assign(memory.sender.create(options, context), {
              addressing: {
                fill() {
                  throw new TypeError("no such device");
                },
              },
            }),
        },
      },
    ],
    config: (config) => ({
      ...config,
      senders: config.senders.map((one) => ({ ...one, transport: "rude" })),
      bindings: config.bindings.map((one) => ({ ...one, address: "{$id}" })),
    }),
  });
  expect(settled).toMatchObject({ kind: "accept", outcome: "dead_lettered" });
  expect(entry).toMatchObject({
    errorCode: "BINDING_UNRESOLVED",
    lastError: "the address failed: no such device",
  });
  expect(lines).toMatchObject([{ where: "binding out", envelope_id: "m1", error: "no such device" }]);
  expect(writes).toEqual([]);
  await supervisor.shutdown();
});
