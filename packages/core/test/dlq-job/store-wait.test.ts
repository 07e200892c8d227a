import { BridgeError } from "@bridge/ports";
import { expect, test } from "vitest";
import { StoreWait } from "../../src/dlq-job/store-wait.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";

const full = new BridgeError("UNAVAILABLE", "the disk is full");
const refused = (): Promise<never> => Promise.reject(full);
const taken = async (): Promise<string> => "taken";

function made() {
  const clock = new FakeClock();
  return { clock, wait: new StoreWait(clock) };
}

test("what is not taken is waited for since the first of it was asked for, with what was said last, until some is taken", async () => {
  const { clock, wait } = made();
  expect([wait.ms, wait.failure]).toEqual([0, undefined]);
  wait.failed(new BridgeError("TIMEOUT", "no answer"));
  clock.skip(40_000);
  await expect(wait.for(bound(), refused)).rejects.toBe(full);
  clock.skip(2_000);
  expect([wait.ms, wait.failure]).toEqual([42_000, full]);
  await expect(wait.for(bound(), taken)).resolves.toBe("taken");
  expect([wait.ms, wait.failure]).toEqual([0, undefined]);
  clock.skip(5_000);
  expect(wait.ms).toBe(0);
});

test("a call that is not answered is waited for from its beginning, also when it fails", async () => {
  const { clock, wait } = made();
  const given = new AbortController();
  const asked = wait.for(given.signal, () => new Promise(() => {}));
  clock.skip(30_000);
  expect([wait.ms, wait.failure]).toEqual([30_000, undefined]);
  given.abort(full);
  await expect(asked).rejects.toBe(full);
  clock.skip(1_000);
  expect([wait.ms, wait.failure]).toEqual([31_000, full]);
});

test("what waits beside one that was taken is waited for since then", async () => {
  const { clock, wait } = made();
  const first = Promise.withResolvers<void>();
  const asked = wait.for(bound(), () => first.promise);
  clock.skip(30_000);
  await wait.for(bound(), taken);
  clock.skip(10_000);
  expect(wait.ms).toBe(10_000);
  first.resolve();
  await asked;
  expect(wait.ms).toBe(0);
});

test("one whose answer says nothing of the others ends only its own wait", async () => {
  const { clock, wait } = made();
  await wait.for(bound(), taken, false);
  expect(wait.ms).toBe(0);
  wait.failed(full);
  clock.skip(10_000);
  await wait.for(bound(), taken, false);
  expect([wait.ms, wait.failure]).toEqual([10_000, full]);
});
