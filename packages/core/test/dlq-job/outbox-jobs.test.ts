import { describe, expect, test } from "vitest";
import { bound, refusal } from "../support/memory-bridge.ts";
import { AT_ONCE, begun, fill, started, stored, until } from "./job-bridge.ts";

describe("a redrive job through an outbox", () => {
  test("delivers all of its set once, and the drain deletes", async () => {
    const bridge = await started({ deliveryMode: "shared_outbox" });
    const { hub, supervisor, dlq } = bridge;
    await fill(dlq, 200);
    const job = await begun(bridge);
    expect((await until(bridge, job.id, "completed")).counts).toMatchObject({ succeeded: 200, failed: 0 });
    expect(hub.channel("out").arrived).toBe(200);
    expect(await stored(dlq)).toEqual([]);
    expect(supervisor.stats().unaccounted).toBe(0);
    await supervisor.shutdown();
  });

  test.each(["dlq", "drop"] as const)(
    "what the drain gives up by policy %s is marked, and no second entry is written",
    async (policy) => {
      const bridge = await started({ deliveryMode: "shared_outbox", policy: { onPermanentFailure: policy } });
      const { hub, supervisor, dlq } = bridge;
      await fill(dlq, 20);
      hub.channel("out").sends.failNext(Number.POSITIVE_INFINITY, refusal);
      const job = await begun(bridge);
      const done = await until(bridge, job.id, "completed");
      expect(done.counts).toMatchObject({ succeeded: 0, failed: 20 });
      expect(await stored(dlq)).toHaveLength(20);
      expect((await dlq.get("e00004", bound()))?.marks?.redrives).toMatchObject({ count: 1, jobId: job.id, jobTry: 1 });
      expect(supervisor.stats().unaccounted).toBe(0);
      await supervisor.shutdown();
    },
  );

  test("a stop while records wait: they are pending, count for nothing twice, and complete when the outbox has delivered them", async () => {
    // A stop is bounded by the machine's time, in which any amount of the bridge's may pass.
    const bridge = await started({ deliveryMode: "shared_outbox", policy: { sendTimeoutMs: 1e9 } });
    const { hub, supervisor, dlq } = bridge;
    await fill(dlq, 10);
    const hold = hub.channel("out").sends.hold();
    const job = await begun(bridge, { settings: { ...AT_ONCE, concurrency: 4 } });
    await hub.channel("out").until((channel) => channel.sends.held === 4, bound());
    const stopping = supervisor.stop(bound());
    await until(bridge, job.id, "waiting");
    hold[Symbol.dispose]();
    await stopping;
    await supervisor.start(bound());
    const done = await until(bridge, job.id, "completed");
    expect(done.counts).toMatchObject({ succeeded: 10, failed: 0, skipped: 0 });
    expect(done.pending).toEqual([]);
    expect(await stored(dlq)).toEqual([]);
    await supervisor.shutdown();
  });
});
