import { openMemoryOutbox } from "@bridge/memory";
import { type OutboxStatus, systemRandom } from "@bridge/ports";
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

test("of a wait that is over nothing is kept, however it ended", async () => {
  const clock = new FakeClock();
  const memory = openMemoryOutbox({ maxRecords: 10, retentionMs: 1_000, clock, random: systemRandom() });
  const status = async (id: string): Promise<OutboxStatus> => (id === "done" ? "done" : "pending");
  const outcomes = new RecordOutcomes();
  const gone = new AbortController();
  const wait = (id: string, signal = bound()) => outcomes.of(id, { ...memory, status }, clock, signal);
  const [done, here, left, other] = [wait("done"), wait("here"), wait("left", gone.signal), wait("left")];
  expect(outcomes.size).toBe(3);
  await done;
  outcomes.ended("here", { disposition: "delivered" });
  await here;
  gone.abort(new Error("gone"));
  await expect(left).rejects.toThrow("gone");
  expect(outcomes.size).toBe(1);
  outcomes.ended("left", { disposition: "delivered" });
  await other;
  expect(outcomes.size).toBe(0);
});
