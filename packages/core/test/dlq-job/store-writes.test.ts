import { BridgeError } from "@bridge/ports";
import { expect, test } from "vitest";
import { StoreWrites } from "../../src/dlq-job/store-writes.ts";
import { FakeClock } from "../support/fake-clock.ts";

test("a store that takes nothing has failed since the first write that it did not take, with what it said last, until it takes one", () => {
  const clock = new FakeClock();
  const writes = new StoreWrites(clock);
  expect([writes.failingMs, writes.failure]).toEqual([0, undefined]);
  const full = new BridgeError("UNAVAILABLE", "the disk is full");
  writes.failed(new BridgeError("TIMEOUT", "no answer"));
  clock.skip(40_000);
  writes.failed(full);
  clock.skip(2_000);
  expect([writes.failingMs, writes.failure]).toEqual([42_000, full]);
  writes.took();
  expect([writes.failingMs, writes.failure]).toEqual([0, undefined]);
  writes.failed(full);
  clock.skip(1_000);
  expect(writes.failingMs).toBe(1_000);
});
