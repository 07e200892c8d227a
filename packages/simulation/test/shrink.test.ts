import { expect, test } from "vitest";
import { breaksLike, draw, type Plan, runPlan, runSeed, shrink, story } from "../src/index.ts";
import { fewer } from "../src/shrink/fewer.ts";
import { simpler } from "../src/shrink/simpler.ts";

/** As an auditor would find it that took each repeat for a fault of the engine. */
async function repeats(plan: Plan): Promise<boolean> {
  const { trace } = await runPlan(plan, true);
  const taken = trace.flatMap((line) => /target (\S+) takes (\d+)/.exec(line)?.slice(1).join(" ") ?? []);
  return new Set(taken).size < taken.length;
}

async function firstSeed(shows: (plan: Plan) => Promise<boolean>): Promise<Plan> {
  for (let seed = 1; seed <= 200; seed++) {
    const plan = draw(seed);
    if (plan.faults.length > 2 && plan.messages.length > 20 && plan.messages.length < 100 && (await shows(plan)))
      return plan;
  }
  throw new Error("no seed shows it");
}

test("all that does not matter is left out, and nothing that does", async () => {
  const all = Array.from({ length: 100 }, (_, index) => index);
  expect(await fewer(all, async (some) => some.includes(17) && some.includes(90))).toEqual([17, 90]);
  expect(await fewer(all, async () => true)).toEqual([]);
  expect(await fewer(all, async () => false)).toEqual(all);
});

test(
  "what an auditor with a fault has found becomes few messages and at most one fault",
  { timeout: 300_000 },
  async () => {
    const plan = await firstSeed(repeats);
    const shortest = await shrink(plan, { breaks: repeats });
    expect(await repeats(shortest)).toBe(true);
    // Each message that is left out changes what the dice say of the others, so it need not become one.
    expect(shortest.messages.length).toBeLessThan(plan.messages.length / 4);
    expect(shortest.faults.length).toBeLessThanOrEqual(1);
    // Where several are left, none of them shows it alone.
    for (const simple of simpler(shortest))
      if (simple.bindings.length < shortest.bindings.length) expect(await repeats(simple)).toBe(false);
    expect(story(await runPlan(shortest, true)).split("\n").length).toBeLessThan(100);
  },
);

test("of several instances those that do not matter are left out, with what happens to them", async () => {
  const kill = (instance: number) => ({ kind: "kill", at: 1_000, forMs: 10, instance }) as const;
  const plan: Plan = { ...draw(3), instances: 3, faults: [kill(0), kill(2)] };
  const shortest = await shrink(plan, { breaks: async ({ faults }) => faults.some(({ instance }) => instance === 0) });
  expect(shortest.instances).toBe(1);
  expect(shortest.faults).toEqual([kill(0)]);
});

test("a plan that breaks nothing stays as it is, and so does one for which there is no time", async () => {
  const plan = draw(3);
  expect(await shrink(plan, { breaks: async () => false })).toBe(plan);
  expect(await shrink(plan, { breaks: async () => true, goesOn: () => false })).toBe(plan);
});

test("the same violation is one with other numbers in it", { timeout: 60_000 }, async () => {
  const { plan, violations } = await runSeed(3);
  expect(violations).toEqual([]);
  const broken = { ...plan, maxReplayAttempts: 1_000_000, drops: false };
  const found = (await runPlan({ ...broken, document: { ...broken.document, routes: [] } })).violations;
  expect(found).not.toEqual([]);
  expect(await breaksLike(found)({ ...broken, document: { ...broken.document, routes: [] } })).toBe(true);
  expect(await breaksLike(["message 1 is lost"])(plan)).toBe(false);
});
