import type { RoutePolicy } from "@bridge/config";
import { openMemoryDlq } from "@bridge/dlq-memory";
import { openMemoryOutbox } from "@bridge/memory";
import { BridgeError, type DlqStore, type OutboxStore, systemRandom } from "@bridge/ports";
import { expect, test } from "vitest";
import { WRITE_TIMEOUT_MS } from "../../src/dlq/dead-letter-writer.ts";
import { FINISH_TIMEOUT_MS } from "../../src/outbox/claim-ends.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, memoryBridge, refusal } from "../support/memory-bridge.ts";

type Call = "persist" | "claim" | "finish" | "put";

/** A bridge of which one call to a store can be made to fail, or to get no answer. */
async function bridgeWhose(call: Call, policy: Partial<RoutePolicy> = { sendTimeoutMs: 10_000 }) {
  const clock = new FakeClock();
  const store = { manner: "well" as "well" | "refuses" | "hangs" };
  const instead = async (): Promise<void> => {
    if (store.manner === "hangs") await new Promise(() => {});
    if (store.manner === "refuses") throw new BridgeError("UNAVAILABLE", "disk full");
  };
  const within = <Store extends object>(inner: Store): Store => {
    const original = Reflect.get(inner, call) as ((...args: readonly unknown[]) => Promise<unknown>) | undefined;
    if (original === undefined) return inner;
    return {
      ...inner,
      [call]: async (...args: readonly unknown[]) => {
        await instead();
        return original.apply(inner, args as unknown[]);
      },
    };
  };
  const outbox: OutboxStore = within(
    openMemoryOutbox({ maxRecords: 100, retentionMs: 3_600_000, clock, random: systemRandom() }),
  );
  const dlq: DlqStore = within(openMemoryDlq({ maxEntries: 100 }));
  const bridge = memoryBridge({ deliveryMode: "shared_outbox", clock, outbox, dlq, policy });
  await bridge.supervisor.start(bound());
  const progress = () => bridge.supervisor.view().routes[0]?.progress;
  return { ...bridge, store, progress };
}

test.each<[Call, string]>([
  ["persist", "the outbox store does not take what is written to it: UNAVAILABLE, disk full"],
  ["claim", "the outbox store hands out no records: UNAVAILABLE, disk full"],
  ["finish", "the outbox store does not take how records ended: UNAVAILABLE, disk full"],
  ["put", "the DLQ store does not take what is written to it: UNAVAILABLE, disk full"],
])("a route whose store refuses %s says so, and no more once it is well", async (call, reason) => {
  const { hub, clock, supervisor, store, progress } = await bridgeWhose(call);
  expect(progress()?.reason).toBeUndefined();
  if (call === "put") hub.channel("out").sends.failNext(Infinity, refusal);
  store.manner = "refuses";
  hub.publish("in", { id: "m1" });
  await clock.until(() => progress()?.reason?.startsWith(reason) === true);
  expect(progress()?.progress).toBe("waiting");
  store.manner = "well";
  await clock.until(() => hub.channel("in").accepted === 1 && supervisor.stats().legs[0]?.inOutbox === 0);
  await clock.until(() => supervisor.view().level === "full");
  expect(progress()?.reason ?? "").not.toContain("store");
  await supervisor.shutdown();
});

test.each<[Call, string]>([
  ["claim", "the outbox store has not answered for 10 s"],
  ["put", "the DLQ store has not answered for 10 s"],
])("a route whose store does not answer %s says for how long", async (call, reason) => {
  const { hub, clock, supervisor, store, progress } = await bridgeWhose(call);
  hub.channel("out").sends.failNext(Infinity, refusal);
  store.manner = "hangs";
  hub.publish("in", { id: "m1" });
  await clock.until(() => progress()?.progress === "waiting", 100, 1_000);
  expect(progress()?.reason).toBe(reason);
  await supervisor.shutdown();
});

test("a record whose dead letter is being written is not lent again, nor sent, as long as its DLQ may still answer", async () => {
  const { hub, clock, supervisor, store } = await bridgeWhose("put", { sendTimeoutMs: 1_000, maxInFlight: 2 });
  const attempts = () => supervisor.stats().legs[0]?.attempts;
  hub.channel("out").sends.failNext(Infinity, refusal);
  store.manner = "hangs";
  hub.publish("in", { id: "m1" });
  await clock.until(() => attempts() === 1);
  await clock.advance(WRITE_TIMEOUT_MS + FINISH_TIMEOUT_MS);
  expect(attempts()).toBe(1);
  await supervisor.shutdown();
});

test.each([
  ["a target that refuses", "failing"],
  ["nothing to do", "waiting"],
] as const)(
  "a route with %s says that its outbox takes nothing, though no message waits for that",
  async (state, progress) => {
    const clock = new FakeClock();
    const inner = openMemoryOutbox({ maxRecords: 100, retentionMs: 3_600_000, clock, random: systemRandom() });
    let fault: string | undefined;
    const outbox: OutboxStore = { ...inner, health: () => ({ setAside: [], ...(fault !== undefined && { fault }) }) };
    const { hub, supervisor } = memoryBridge({ deliveryMode: "shared_outbox", clock, outbox });
    await supervisor.start(bound());
    const now = () => supervisor.view().routes[0]?.progress;
    if (state === "a target that refuses") {
      hub.channel("out").sends.failNext(Infinity, new BridgeError("UNAVAILABLE", "503"));
      hub.publish("in", { id: "m1" });
      await clock.until(() => now()?.progress === "failing", 100, 1_000);
    }
    expect(now()?.reason ?? "").not.toContain("disk");
    fault = "o.db: the disk is full: make room";
    await clock.advance(1_000);
    expect(now()).toMatchObject({
      progress,
      reason: expect.stringMatching(/the outbox store takes nothing: o\.db: the disk is full: make room$/) as string,
    });
    fault = undefined;
    await clock.advance(1_000);
    expect(now()?.reason ?? "").not.toContain("disk");
    await supervisor.shutdown();
  },
);
