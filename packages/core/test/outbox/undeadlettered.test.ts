import { BridgeError, type OutboxStatus, systemRandom } from "@bridge/ports";
import { openMemoryOutbox } from "@bridge/memory";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Undeadlettered } from "../../src/outbox/undeadlettered.ts";
import { BoundingClock } from "../support/bounding-clock.ts";
import { FakeClock } from "../support/fake-clock.ts";

const signal = new AbortController().signal;
const id = fc.nat(120).map((n) => `record ${n}`);
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ does: fc.constant("refused" as const), id }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("ended here" as const), id }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant("ended elsewhere" as const), id }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("others succeed" as const), id }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("all ended elsewhere" as const), id }) },
);

test("a failure is told exactly as long as a record waits for its dead letter, whoever ends it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 200 }), fc.boolean(), async (steps, shared) => {
      const clock = new FakeClock();
      const memory = openMemoryOutbox({ maxRecords: 10, retentionMs: 1_000, clock, random: systemRandom() });
      const pending = new Set<string>();
      const status = async (asked: string): Promise<OutboxStatus | undefined> =>
        pending.has(asked) ? "pending" : asked.endsWith("7") ? undefined : "dead";
      const store = { ...memory, shared, status };
      const waiting = new Undeadlettered(clock);
      for (const { does, id: which } of steps) {
        if (does === "refused") {
          pending.add(which);
          waiting.add(which, new BridgeError("UNAVAILABLE", which), 3_600_000);
        } else if (does === "ended here") {
          pending.delete(which);
          waiting.delete(which);
        } else if (does === "ended elsewhere") pending.delete(which);
        else if (does === "all ended elsewhere") pending.clear();
        await clock.advance(1_000);
        await waiting.forgetEnded(store, signal);
        expect(waiting.failure !== undefined).toBe(pending.size > 0);
      }
    }),
    { numRuns: 50 },
  );
});

test("a store that is not open, or does not answer, ends nothing", async () => {
  const clock = new FakeClock();
  const memory = openMemoryOutbox({ maxRecords: 10, retentionMs: 1_000, clock, random: systemRandom() });
  const waiting = new Undeadlettered(clock);
  waiting.add("record", new BridgeError("UNAVAILABLE", "full"), 3_600_000);
  await waiting.forgetEnded(undefined, signal);
  const away = async () => Promise.reject(new BridgeError("UNAVAILABLE", "away"));
  await waiting.forgetEnded({ ...memory, shared: true, status: away }, signal);
  await waiting.forgetEnded({ ...memory, status: away }, signal);
  expect(waiting.failure?.message).toBe("full");
});

test("a store that does not answer is waited for 5 s, or until nobody waits any more", async () => {
  const clock = new BoundingClock();
  const memory = openMemoryOutbox({ maxRecords: 10, retentionMs: 1_000, clock, random: systemRandom() });
  const store = { ...memory, status: () => new Promise<never>(() => {}) };
  const waiting = new Undeadlettered(clock);
  waiting.add("record", new BridgeError("UNAVAILABLE", "full"), 3_600_000);
  const over: string[] = [];
  void waiting.forgetEnded(store, signal).then(() => over.push("in time"));
  await clock.advance(4_999);
  expect(over).toEqual([]);
  await clock.advance(1);
  expect(over).toEqual(["in time"]);
  const stop = new AbortController();
  void waiting.forgetEnded(store, stop.signal).then(() => over.push("at the stop"));
  stop.abort(new Error("stopped"));
  await clock.advance(0);
  expect(over).toEqual(["in time", "at the stop"]);
  expect(waiting.failure?.message).toBe("full");
});

test("whoever has just been looked after is not looked after again at once", async () => {
  const clock = new FakeClock();
  const memory = openMemoryOutbox({ maxRecords: 10, retentionMs: 1_000, clock, random: systemRandom() });
  let asked = 0;
  const status = async (): Promise<OutboxStatus> => (asked++, "pending");
  const waiting = new Undeadlettered(clock);
  waiting.add("record", new BridgeError("UNAVAILABLE", "full"), 3_600_000);
  for (let look = 0; look < 5; look++) await waiting.forgetEnded({ ...memory, status }, signal);
  expect(asked).toBe(1);
  await clock.advance(1_000);
  await waiting.forgetEnded({ ...memory, status }, signal);
  expect(asked).toBe(2);
});

test.each([
  { still: "none of them waits", pending: [], asked: 120 },
  { still: "the last one waits", pending: ["119"], asked: 120 },
  { still: "the first one waits", pending: ["0"], asked: 50 },
])("one look forgets those that others have ended, however many, up to one that still waits: $still", async (given) => {
  const clock = new FakeClock();
  const memory = openMemoryOutbox({ maxRecords: 10, retentionMs: 1_000, clock, random: systemRandom() });
  const waiting = new Undeadlettered(clock);
  const ids = Array.from({ length: 120 }, (_, at) => `${at}`);
  for (const each of ids) waiting.add(each, new BridgeError("UNAVAILABLE", "full"), 3_600_000);
  let asked = 0;
  const status = async (of: string): Promise<OutboxStatus> => {
    asked++;
    return given.pending.includes(of) ? "pending" : "dead";
  };
  await waiting.forgetEnded({ ...memory, shared: true, status }, signal);
  expect(asked).toBe(given.asked);
  expect(waiting.failure !== undefined).toBe(given.pending.length > 0);
});
