import { expect, test } from "vitest";
import { draw, type Plan, runPlan } from "../src/index.ts";
import type { HookHabits, Stumble } from "../src/plan/planned-program.ts";

const WELL: HookHabits = { latencyMs: 10, throws: 0, rejects: 0, hangs: 0, stays: 0 };

function calm(more: Partial<Plan>, stumbles?: Stumble): Plan {
  let seed = 1;
  let drawn = draw(seed);
  while (
    drawn.outbox !== undefined ||
    drawn.instances !== 1 ||
    drawn.leases !== undefined ||
    drawn.callers !== undefined
  )
    drawn = draw(++seed);
  const { routes = [], ...document } = drawn.document;
  const policy = { max_replay_attempts: 3, send_timeout: "1s", backoff: { initial_interval: "100ms" } };
  return {
    ...drawn,
    document: {
      ...document,
      processors: [{ id: "filter", type: "simulated" }],
      routes: routes.map((route) => ({ ...route, processors: ["filter"], policy })),
    },
    maxReplayAttempts: 3,
    drops: false,
    messages: Array.from({ length: 10 }, (_, number) => ({
      number,
      at: 5_000 + number * 1_000,
      ...(stumbles !== undefined && number % 2 === 0 && { stumbles }),
      ...(stumbles === undefined && number % 2 === 0 && { poison: "FORBIDDEN" as const }),
    })),
    broker: { latencyMs: 1, confirms: false, releasable: false, counts: false },
    target: { latencyMs: 10, refuses: 0, loses: 0, silent: 0, slow: 0 },
    faults: [],
    calmAt: 60_000,
    ...more,
  };
}

test.each<[string, Partial<HookHabits>]>([
  ["are well", {}],
  ["throw", { throws: 1 }],
  ["reject", { rejects: 1 }],
  ["do not end", { hangs: 1 }],
  ["do not even end when they are told to", { stays: 1 }],
])("nothing is lost where hooks %s", async (_, habits) => {
  const { violations } = await runPlan(calm({ hooks: { ...WELL, ...habits } }));
  expect(violations).toEqual([]);
});

test.each<[Stumble["how"], number, number]>([
  ["throws", 2, 0],
  ["throws", 5, 5],
  ["refuses", 1, 5],
  ["answers nothing", 2, 0],
  ["ends when it is told to", 2, 0],
  ["ends late", 5, 5],
])("what a processor %s for, %i times, is delivered or dead-lettered", async (how, times, dead) => {
  const { violations, trace } = await runPlan(calm({}, { how, times }), true);
  expect(violations).toEqual([]);
  expect(trace.filter((line) => line.includes("DLQ keeps"))).toHaveLength(dead);
});

test("a route that stands still for calls that go on after they were given up says so, and goes on when they end", async () => {
  const stumbles: Stumble = { how: "ends late", times: 3 };
  const messages = Array.from({ length: 120 }, (_, number) => ({ number, at: 5_000, stumbles }));
  const { document, ...plan } = calm({ messages });
  const routes = (document.routes ?? []).map((route) => ({
    ...route,
    policy: { ...route.policy, max_in_flight: 120 },
  }));
  const { violations, trace } = await runPlan({ ...plan, document: { ...document, routes } }, true);
  expect(violations).toEqual([]);
  expect(trace.filter((line) => line.includes("the route stands still"))).toHaveLength(2);
});

test("what is recorded meanwhile is sound", async () => {
  const { violations } = await runPlan(calm({ recorded: true }));
  expect(violations).toEqual([]);
});
