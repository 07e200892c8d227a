import { expect, test } from "vitest";
import { draw } from "../src/index.ts";
import { watchStop } from "../src/run/budgets.ts";
import type { Instance } from "../src/run/instance.ts";
import { worldOf } from "../src/run/world.ts";

/** What is told of a stop that takes so long, with a second to drain. */
async function toldOf(tookMs: number, kind = "running", freezes = 0): Promise<readonly string[]> {
  const { leases: _, ...plan } = draw(1);
  const world = worldOf(plan, false);
  const supervisor = { state: () => ({ kind }), config: () => ({ bridge: { drainTimeoutMs: 1_000 } }) };
  const instance = { name: "one", owner: { alive: true, pending: 0 }, freezes: 0, supervisor };
  const over = watchStop(world, instance as unknown as Instance, "stop");
  await world.time.pass(tookMs);
  instance.freezes += freezes;
  over();
  return world.auditor.violations;
}

test("a stop that takes longer than its parts may is told of, unless the instance stood still or did not run", async () => {
  expect(await toldOf(6_000)).toEqual([]);
  expect(await toldOf(7_000)).toEqual(["the stop of one took 7000 ms, and had 6120"]);
  expect(await toldOf(7_000, "running", 1)).toEqual([]);
  expect(await toldOf(7_000, "starting")).toEqual([]);
});
