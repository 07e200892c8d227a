import { expect, test } from "vitest";
import { draw, type Fault, type Plan, runPlan } from "../src/index.ts";
import { type Change, changed } from "../src/plan/change.ts";

/** More attempts than a target is away for. */
const PATIENCE = 100;

/** One instance through whose outbox a message comes every second, for a minute. */
function planWith(faults: readonly Fault[]): Plan {
  let seed = 1;
  let drawn = draw(seed);
  while (drawn.outbox === undefined || drawn.instances !== 1 || drawn.leases !== undefined || drawn.bindings.length > 1)
    drawn = draw(++seed);
  const routes = (drawn.document.routes ?? []).map((route) => ({
    ...route,
    policy: { max_replay_attempts: PATIENCE, send_timeout: "1s" },
  }));
  return {
    ...drawn,
    document: { ...drawn.document, routes },
    maxReplayAttempts: PATIENCE,
    messages: Array.from({ length: 60 }, (_, number) => ({ number, at: number * 1_000 })),
    target: { latencyMs: 10, refuses: 0, loses: 0, silent: 0, slow: 0 },
    outbox: { latencyMs: 10, shared: true, maxRecords: 100_000 },
    faults,
    calmAt: 120_000,
  };
}

const reload = (change: Change): Fault => ({ kind: "reload", at: 20_000, forMs: 20_000, change });

async function answersTo(faults: readonly Fault[]): Promise<readonly string[]> {
  const { trace, violations } = await runPlan(planWith(faults), true);
  expect(violations).toEqual([]);
  return trace.flatMap((line) => /the change of instance-0 is (\w+)/.exec(line)?.[1] ?? []);
}

const POLICY = { what: "policy", policy: { max_in_flight: 7 } } as const;
const changes: readonly Change[] = [
  POLICY,
  { what: "rate", perSecond: 5 },
  { what: "mode" },
  { what: "renamed" },
  { what: "removed" },
];

test.each(changes)("a change of $what comes into force, and so does the change back", async (change) => {
  expect(await answersTo([reload(change)])).toEqual(["applied", "applied"]);
});

test.each(changes.slice(2))(
  "a change of $what is refused while records would stay behind, and nothing is changed back",
  async (change) => {
    const down: Fault = { kind: "target-down", at: 10_000, forMs: 50_000, answers: "refuses" };
    expect(await answersTo([down, reload(change)])).toEqual(["stranding"]);
  },
);

test("a change back that is refused is asked for until it is in force", async () => {
  const down: Fault = { kind: "target-down", at: 30_000, forMs: 20_000, answers: "silent" };
  const answers = await answersTo([reload({ what: "renamed" }), down]);
  expect(answers.length).toBeGreaterThan(2);
  expect(answers.slice(1, -1)).toEqual(answers.slice(1, -1).map(() => "stranding"));
  expect(answers.at(-1)).toBe("applied");
});

test("what is changed beside what is changed already holds for both, and one of a kind is changed at a time", async () => {
  expect(await answersTo([reload(POLICY), reload({ what: "removed" })])).toHaveLength(4);
  expect(await answersTo([reload({ what: "mode" }), reload({ what: "removed" })])).toHaveLength(2);
});

test("a document with changes is the one without, but for what they say", () => {
  const { document } = planWith([]);
  const [route] = document.routes ?? [];
  const of = (change: Change) => changed(document, [change]).routes?.[0];
  expect(of(POLICY)?.policy).toEqual({ ...route?.policy, max_in_flight: 7 });
  expect(of({ what: "mode" })?.delivery_mode).toBe("direct_hold");
  expect(of({ what: "renamed" })).toEqual({ ...route, id: "route-renamed" });
  expect(of({ what: "removed" })).toBeUndefined();
});
