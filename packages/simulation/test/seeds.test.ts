import { times } from "@bridge/tooling/long";
import { expect, test } from "vitest";
import { runSeed } from "../src/index.ts";

const SEEDS = times(25, 200);

async function digests(seeds: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const all = new Map<number, string>();
  for (const seed of seeds) {
    const { digest, violations } = await runSeed(seed);
    expect({ seed, violations }).toEqual({ seed, violations: [] });
    all.set(seed, digest);
  }
  return all;
}

test("a seed holds, and gives the same digest whatever ran before it", { timeout: 600_000 }, async () => {
  const seeds = Array.from({ length: SEEDS }, (_, index) => index + 1);
  const first = await digests(seeds);
  const again = await digests(seeds.toReversed());
  expect(new Map([...again].toSorted(([a], [b]) => a - b))).toEqual(first);
  expect(new Set(first.values()).size).toBe(SEEDS);
});

test("a run whose trace is kept is the same run", async () => {
  const run = await runSeed(3, true);
  expect(run.trace.length).toBeGreaterThan(10);
  expect(run.digest).toBe((await runSeed(3)).digest);
});
