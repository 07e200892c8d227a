import { openMemoryDlq } from "@bridge/dlq-memory";
import { expect, test } from "vitest";
import { entryOf } from "../dlq-job/job-bridge.ts";
import { envelopeOf } from "../support/envelope.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";

/** A bridge that sends each message to two bindings, one of which needs a header that messages do not have. */
async function halfAddressed() {
  const bridge = memoryBridge({
    deliveryMode: "shared_outbox",
    dispatchMode: "fan_out",
    bindings: ["one", "other"],
    dlq: openMemoryDlq({ maxEntries: 10 }),
    config: (config) => ({
      ...config,
      bindings: config.bindings.map((binding) =>
        binding.id === "other" ? { ...binding, address: "{where}" } : binding,
      ),
    }),
  });
  await bridge.supervisor.start(bound());
  return bridge;
}

const HALF = { outcome: "dead_lettered", error: { code: "BINDING_UNRESOLVED" }, failedBindings: ["other"] };

test("a message that the outbox has seen before is not delivered as long as a leg of it fails before the outbox", async () => {
  const { clock, supervisor } = await halfAddressed();
  for (const warned of [false, true]) {
    const injected = supervisor.inject("r", { id: "m1", payload: "hello" }, { signal: bound() });
    await clock.advance(1_000);
    const answer = await injected;
    expect(answer).toMatchObject(HALF);
    expect("warning" in answer).toBe(warned);
  }
  await supervisor.shutdown();
});

test("a dead letter is kept, however often it is redriven, as long as a leg of it fails before the outbox", async () => {
  const { hub, clock, supervisor, dlq } = await halfAddressed();
  const entry = entryOf(1, { bindingId: "", envelope: envelopeOf({ id: "m1" }) });
  const { id } = entry;
  await dlq.put(entry, bound());
  for (let time = 0; time < 3; time++) {
    const redriven = supervisor.redrive([id], bound());
    await clock.advance(1_000);
    expect(await redriven).toMatchObject({ redriven: 0, failed: 1 });
    expect(await dlq.get(id, bound())).toBeDefined();
  }
  expect(hub.channel("one").arrived).toBe(1);
  await supervisor.shutdown();
});
