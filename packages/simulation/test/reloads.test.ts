import { expect, test } from "vitest";
import { draw, type Fault, type Plan, runPlan } from "../src/index.ts";
import { type Change, changed, plannedBinding } from "../src/plan/change.ts";

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
  { what: "bindings-renamed" },
  { what: "outbox-moved" },
];
/** After which no record is left to nobody. */
const harmless: readonly Change[] = [
  { what: "readdressed" },
  { what: "session", known: true },
  { what: "session", known: false },
  { what: "dlq-moved" },
];

test.each([...changes, ...harmless])(
  "a change of $what comes into force, and so does the change back",
  async (change) => {
    expect(await answersTo([reload(change)])).toEqual(["applied", "applied"]);
  },
);

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

test("another store of dead letters is left when nobody wants what it holds", async () => {
  const plan = planWith([reload({ what: "dlq-moved" })]);
  const messages = plan.messages.map((message) => ({ ...message, poison: "FORBIDDEN" as const }));
  const { trace, violations } = await runPlan(
    { ...plan, drops: false, messages: messages.slice(25, 35).map((m, number) => ({ ...m, number })) },
    true,
  );
  expect(violations).toEqual([]);
  const answers = trace.flatMap(
    (line) => /the change of instance-0 is (\w+)|is (discarded)/.exec(line)?.slice(1).find(Boolean) ?? [],
  );
  expect(answers.slice(0, 2)).toEqual(["applied", "stranding"]);
  expect(answers.filter((answer) => answer === "discarded")).toHaveLength(10);
  expect(answers.at(-1)).toBe("applied");
});

test("what is changed beside what is changed already holds for both, and one of a kind is changed at a time", async () => {
  expect(await answersTo([reload(POLICY), reload({ what: "removed" })])).toHaveLength(4);
  expect(await answersTo([reload({ what: "mode" }), reload({ what: "removed" })])).toHaveLength(2);
});

test("whoever does not wait for the end of a stop is answered at once", async () => {
  const silent: Fault = { kind: "target-down", at: 10_000, forMs: 20_000, answers: "silent" };
  const stop: Fault = { kind: "stop", at: 20_000, forMs: 10_000 };
  const hurry: Fault = { kind: "hurry", at: 20_001, forMs: 0, asks: 3, everyMs: 10, patienceMs: 20 };
  expect(await answersTo([silent, stop, hurry])).toEqual(["waited", "waited", "waited"]);
});

test("what is asked for once more comes into force, and is changed back all the same", async () => {
  const hurry: Fault = { kind: "hurry", at: 20_001, forMs: 0, asks: 2, everyMs: 30_000, patienceMs: 20_000 };
  const answers = await answersTo([reload({ what: "renamed" }), hurry]);
  expect(answers.length).toBeGreaterThan(2);
  expect(answers.at(-1)).toBe("applied");
});

test("a document with changes is the one without, but for what they say", () => {
  const { document } = planWith([]);
  const [route] = document.routes ?? [];
  const of = (change: Change) => changed(document, [change]).routes?.[0];
  expect(of(POLICY)?.policy).toEqual({ ...route?.policy, max_in_flight: 7 });
  expect(of({ what: "mode" })?.delivery_mode).toBe("direct_hold");
  expect(of({ what: "renamed" })).toEqual({ ...route, id: "route-renamed" });
  expect(of({ what: "removed" })).toBeUndefined();
  expect(of({ what: "bindings-renamed" })?.bindings).toEqual(["out-0-renamed"]);
  const whole = (what: Change["what"]) => changed(document, [{ what } as Change]);
  expect(whole("bindings-renamed").bindings).toMatchObject([{ id: "out-0-renamed", address: "out-0" }]);
  expect(whole("readdressed").bindings).toMatchObject([{ id: "out-0", address: "out-0-elsewhere" }]);
  expect(["out-0", "out-0-renamed", "out-0-elsewhere"].map(plannedBinding)).toEqual(["out-0", "out-0", "out-0"]);
  expect(whole("dlq-moved").stores?.dlq).toEqual({ type: "simulated", options: { place: "other" } });
  expect(whole("outbox-moved").stores?.outbox).toEqual({ type: "simulated", options: { place: "other" } });
  expect(changed(document, [{ what: "session", known: false }]).sessions?.[0]?.options).toEqual({ login: "unknown" });
});
