import { expect, test, vi } from "vitest";
import { OutboxDepth } from "../../src/outbox/outbox-depth.ts";

test("there is room for as many records as max_outbox_depth says, and again for each that has ended", () => {
  const depth = new OutboxDepth(2);
  expect([depth.tryTake(1), depth.full, depth.tryTake(1), depth.full]).toEqual([true, false, true, true]);
  expect([depth.tryTake(1), depth.depth]).toEqual([false, 2]);
  depth.give(1);
  expect([depth.full, depth.tryTake(2), depth.tryTake(1), depth.depth]).toEqual([false, false, true, 2]);
});

test("a message with more legs than there is room goes when all is free, and not before", () => {
  const depth = new OutboxDepth(2);
  depth.found(1);
  expect(depth.tryTake(3)).toBe(false);
  depth.give(1);
  expect([depth.tryTake(3), depth.depth]).toEqual([true, 3]);
});

test("who waits is told once, of room or of the end of the wait, and is kept no longer", async () => {
  const depth = new OutboxDepth(1);
  const stop = new AbortController();
  const left = vi.spyOn(stop.signal, "removeEventListener");
  const first = depth.changed(stop.signal);
  depth.give(1);
  await first;
  depth.give(1);
  expect(left).toHaveBeenCalledTimes(1);
  const second = depth.changed(stop.signal);
  stop.abort();
  await second;
  expect(left).toHaveBeenCalledTimes(2);
  depth.give(1);
  expect(left).toHaveBeenCalledTimes(2);
});
