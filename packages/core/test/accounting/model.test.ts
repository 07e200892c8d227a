import { type DlqStore, BridgeError } from "@bridge/ports";
import { openMemoryDlq } from "@bridge/dlq-memory";
import fc from "fast-check";
import { expect, test } from "vitest";
import { DISPOSITIONS } from "../../src/view/stats.ts";
import { bound, memoryBridge, outage, refusal } from "../support/memory-bridge.ts";

/** What a run throws at a bridge, in random order. */
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("publish" as const),
      count: fc.integer({ min: 1, max: 5 }),
      keyed: fc.boolean(),
      dying: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("fail" as const),
      binding: fc.nat(2),
      count: fc.integer({ min: 1, max: 4 }),
      transient: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("hang" as const), binding: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("release" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom("cutSource" as const, "cutTarget" as const, "loseSettle" as const) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("breakDlq" as const, "mendDlq" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restart" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("inject" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("redrive" as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 5_000 }) }) },
);

const graph = fc.record({
  deliveryMode: fc.constantFrom("direct_hold" as const, "shared_outbox" as const),
  dispatchMode: fc.constantFrom("single" as const, "fan_out" as const),
  bindings: fc.constantFrom(["a"], ["a", "b"], ["a", "b", "c"]),
  counts: fc.boolean(),
  releasable: fc.boolean(),
  policy: fc.record({
    maxInFlight: fc.integer({ min: 1, max: 5 }),
    maxReplayAttempts: fc.integer({ min: 1, max: 4 }),
    sendTimeoutMs: fc.constantFrom(1_000, 30_000),
    onPermanentFailure: fc.constantFrom("dlq" as const, "drop" as const),
    onExpired: fc.constantFrom("dlq" as const, "drop" as const),
  }),
});

test("whatever fails in whatever order: every message is where it should be, and the accounts are exact at rest", async () => {
  await fc.assert(
    fc.asyncProperty(graph, fc.array(step, { maxLength: 40 }), async (shape, steps) => {
      const inner = openMemoryDlq({ maxEntries: 10_000 });
      let dlqBroken = false;
      // The store outlives the runtimes, like one on a disk.
      const dlq: DlqStore = {
        ...inner,
        put: async (entry, signal) => {
          if (dlqBroken) throw new BridgeError("UNAVAILABLE", "disk full");
          await inner.put(entry, signal);
        },
      };
      const { hub, clock, supervisor } = memoryBridge({
        ...shape,
        session: true,
        dlq,
        quiesceTimeoutMs: 1,
      });
      const { bindings } = shape;
      const holds: Disposable[] = [];
      const background: Promise<unknown>[] = [];
      const published = new Set<string>();
      let next = 0;
      await supervisor.start(bound());
      for (const given of steps) {
        switch (given.do) {
          case "publish":
            for (let at = 0; at < given.count; at++) {
              const id = `m${next++}`;
              published.add(id);
              hub.publish("in", {
                id,
                payload: id,
                ...(given.keyed && { orderingKey: `k${at % 2}` }),
                ...(given.dying && { expiresAt: clock.now() + 1_500 }),
              });
            }
            break;
          case "fail":
            hub
              .channel(bindings[given.binding % bindings.length] ?? "a")
              .sends.failNext(given.count, given.transient ? outage : refusal);
            break;
          case "hang":
            holds.push(hub.channel(bindings[given.binding % bindings.length] ?? "a").sends.hold());
            break;
          case "release":
            for (const hold of holds.splice(0)) hold[Symbol.dispose]();
            break;
          case "cutSource":
            hub.link("s", "source").cut();
            break;
          case "cutTarget":
            hub.link("s", "target").cut();
            break;
          case "loseSettle":
            hub.channel("in").settles.failNext(1, new BridgeError("CONNECTION_LOST", "too late"));
            break;
          case "breakDlq":
            dlqBroken = true;
            break;
          case "mendDlq":
            dlqBroken = false;
            break;
          case "restart":
            await supervisor.stop(bound());
            await supervisor.start(bound());
            break;
          case "inject":
            background.push(
              supervisor.inject("r", { subject: "s", payload: new Uint8Array() }, { signal: bound() }).catch(() => {}),
            );
            break;
          case "redrive": {
            const heads = await inner.list({}, { limit: 3, offset: 0 }, bound());
            background.push(
              supervisor
                .redrive(
                  heads.map((head) => head.id),
                  bound(),
                )
                .catch(() => {}),
            );
            break;
          }
          case "wait":
            await clock.advance(given.ms);
            break;
        }
        expect(supervisor.stats().unaccounted).toBe(0);
        expect(hub.channel("in").unsettled).toBeLessThanOrEqual(shape.policy.maxInFlight + 1);
      }
      // Everything is mended; the bridge comes to rest.
      dlqBroken = false;
      for (const hold of holds) hold[Symbol.dispose]();
      for (const binding of bindings) hub.channel(binding).sends.clear();
      hub.channel("in").settles.clear();
      await clock.until(() => {
        const { legs, routes } = supervisor.stats();
        const busy = routes.some((route) => route.inFlight > 0) || legs.some((leg) => leg.inFlight + leg.inOutbox > 0);
        return !busy && hub.channel("in").unsettled === 0 && hub.channel("in").queue.size === 0;
      }, 1_000);
      let answered = false;
      void Promise.all(background).then(() => (answered = true));
      await clock.until(() => answered, 500);
      const stats = supervisor.stats();
      expect(stats.unaccounted).toBe(0);
      for (const leg of stats.legs) {
        const ended = DISPOSITIONS.reduce((sum, disposition) => sum + leg.dispositions[disposition], 0);
        expect(ended).toBe(leg.received + leg.injected + leg.recovered);
      }
      // Invariant 1: accepted at the source means at the target, in the DLQ, or dropped by a counted policy.
      const atTarget = new Set(
        bindings.flatMap((binding) =>
          hub
            .channel(binding)
            .messages()
            .map((message) => message.id),
        ),
      );
      const dead = await inner.list({}, { limit: 10_000, offset: 0 }, bound());
      const inDlq = new Set(
        (await Promise.all(dead.map((head) => inner.get(head.id, bound())))).map((entry) => entry?.envelope.id),
      );
      const gone = stats.legs.reduce((sum, leg) => sum + leg.dispositions.dropped + leg.dispositions.expired, 0);
      const missing = [...published].filter((id) => !atTarget.has(id) && !inDlq.has(id));
      const redriven = stats.redrives;
      expect(missing.length).toBeLessThanOrEqual(gone + redriven);
      expect(hub.channel("in").accepted).toBeGreaterThanOrEqual(published.size);
      await supervisor.shutdown();
      expect(clock.pending).toBe(0);
    }),
    { numRuns: 200 },
  );
}, 120_000);
