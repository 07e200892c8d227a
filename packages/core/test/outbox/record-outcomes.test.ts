import { openMemoryOutbox } from "@bridge/memory";
import { systemRandom } from "@bridge/ports";
import { expect, test } from "vitest";
import { RecordOutcomes } from "../../src/outbox/record-outcomes.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";

test("all who wait for a record are told at once how it ended, also when one of them has given up before", async () => {
  const clock = new FakeClock();
  const memory = openMemoryOutbox({ maxRecords: 10, retentionMs: 1_000, clock, random: systemRandom() });
  const store = { ...memory, status: async () => "pending" as const };
  const timersBefore = clock.pending;
  const outcomes = new RecordOutcomes();
  const gone = new AbortController();
  const waits = [gone.signal, bound(), bound()].map((signal) => outcomes.of("record", store, clock, signal));
  gone.abort(new Error("30 s are over"));
  await expect(waits[0]).rejects.toThrow("30 s are over");
  const told: unknown[] = [];
  for (const wait of waits) wait.then((outcome) => told.push(outcome)).catch(() => {});
  outcomes.ended("other", { disposition: "dropped" });
  outcomes.ended("record", { disposition: "delivered" });
  // No time passes for a look at the store.
  await clock.advance(0);
  expect(told).toEqual([{ disposition: "delivered" }, { disposition: "delivered" }]);
  expect(clock.pending).toBe(timersBefore);
});
