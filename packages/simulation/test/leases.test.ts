import type { LeaseRecord } from "@bridge/ports";
import { expect, test } from "vitest";
import { draw } from "../src/index.ts";
import { Leases } from "../src/model/leases.ts";
import { drawLeaseTimes } from "../src/plan/draw-lease-times.ts";
import { Dice } from "../src/dice.ts";
import { worldOf } from "../src/run/world.ts";

const TTL_MS = 1_000;
const signal = new AbortController().signal;
const record = (holder: string, token: number, beat: number): LeaseRecord => ({ holder, token, beat, ttlMs: TTL_MS });

/** Leases whose store takes what it is given, and what is told of who writes there. */
async function leases() {
  const world = worldOf(draw(1), false);
  const { time, trace, auditor } = world;
  const kept = new Leases({ time, trace, auditor, dice: new Dice(1), habits: { latencyMs: 1 } });
  let last: LeaseRecord | undefined;
  return {
    kept,
    violations: auditor.violations,
    pass: (ms: number) => time.pass(time.now + ms),
    write: async (name: string, next: LeaseRecord): Promise<void> => {
      const done = kept.store({ name, alive: true, pending: 0 }).replace("key", last, next, signal);
      await time.pass(time.now + 10);
      if (await done) last = next;
    },
  };
}

test("a lease that is taken, renewed, released, left to lapse and taken by another is well", async () => {
  const { kept, write, pass, violations } = await leases();
  await write("one", record("one/a", 1, 1));
  await write("one", record("one/a", 1, 2));
  expect(kept.holder).toBe("one");
  await write("one", record("", 1, 3));
  await write("two", record("two/b", 2, 1));
  await pass(TTL_MS);
  await write("one", record("one/a", 3, 4));
  expect(violations).toEqual([]);
});

test.each([
  [
    "takes the lease that another has",
    "two",
    record("two/b", 2, 9),
    /^two takes the lease that one has for another \d+ ms$/,
  ],
  ["writes under another's token", "two", record("two/b", 1, 9), /^two writes under the token of one$/],
  [
    "takes the lease under no token of its own",
    "one",
    record("one/a", 3, 9),
    /^one takes the lease under token 3, after 1$/,
  ],
])("whoever %s is told of", async (_, name, next, told) => {
  const { write, violations } = await leases();
  await write("one", record("one/a", 1, 1));
  await write(name, next);
  expect(violations).toEqual([expect.stringMatching(told)]);
});

test("a lease that is drawn leaves time for a send after a renewal, however slow its store is", () => {
  for (let seed = 1; seed <= 1_000; seed++) {
    const sendTimeoutMs = 100 + 30 * seed;
    const { ttlMs, latencyMs } = drawLeaseTimes(new Dice(seed), sendTimeoutMs);
    expect(3 * latencyMs + sendTimeoutMs).toBeLessThan(0.98 * ttlMs);
    expect(latencyMs).toBeGreaterThan(0);
  }
});
