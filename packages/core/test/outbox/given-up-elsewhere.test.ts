import { openMemoryDlq } from "@bridge/dlq-memory";
import { openMemoryOutbox } from "@bridge/memory";
import { systemRandom } from "@bridge/ports";
import { expect, test } from "vitest";
import { BoundingClock } from "../support/bounding-clock.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";

test("an inject that another instance has given up is answered, also when the DLQ does not say whether it has the entry", async () => {
  const clock = new BoundingClock();
  const store = openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random: systemRandom() });
  const { supervisor, config } = memoryBridge({
    deliveryMode: "shared_outbox",
    clock,
    // Only the other instance delivers.
    outbox: { ...store, shared: true, claim: async () => [] },
    dlq: { ...openMemoryDlq({ maxEntries: 10 }), get: () => new Promise(() => {}) },
  });
  await supervisor.start(bound());
  const answers: string[] = [];
  const injected = supervisor.inject(config.routes[0]?.id ?? "", { id: "m", payload: "hello" });
  void injected.then(({ outcome }) => answers.push(outcome));
  await clock.advance(1_000);
  const [record] = await store.list({}, { limit: 1, offset: 0 }, bound());
  const claim = await store.claimOne(record?.id ?? "", 1_000, bound());
  await store.finish([{ id: record?.id ?? "", token: claim?.token ?? "", outcome: { kind: "dead" } }], bound());
  await clock.advance(10_000);
  expect(answers).toEqual(["dead_lettered"]);
  await supervisor.shutdown();
});
