import { expect, test } from "vitest";
import { draw, type Fault, type Plan, runPlan } from "../src/index.ts";
import { Auditor } from "../src/run/auditor.ts";

/** Operators inject a message every second, each into the one instance there is, directly or through an outbox. */
function planWith(outbox: boolean, faults: readonly Fault[], patienceMs?: number): Plan {
  let seed = 1;
  let drawn = draw(seed);
  while ((drawn.outbox !== undefined) !== outbox || drawn.instances !== 1 || drawn.leases !== undefined)
    drawn = draw(++seed);
  const inject = { instance: 0, ...(patienceMs !== undefined && { patienceMs }) };
  const policy = { max_replay_attempts: 100, send_timeout: "1s" };
  return {
    ...drawn,
    document: { ...drawn.document, routes: (drawn.document.routes ?? []).map((route) => ({ ...route, policy })) },
    maxReplayAttempts: 100,
    messages: Array.from({ length: 20 }, (_, number) => ({ number, at: 5_000 + number * 1_000, inject })),
    target: { latencyMs: 10, refuses: 0, loses: 0, silent: 0, slow: 0 },
    faults,
    calmAt: 60_000,
  };
}

async function answersTo(plan: Plan): Promise<ReadonlySet<string>> {
  const { trace, violations } = await runPlan(plan, true);
  expect(violations).toEqual([]);
  return new Set(trace.flatMap((line) => /the inject of \d+ is answered: (.*)/.exec(line)?.[1] ?? []));
}

const targetDown: Fault = { kind: "target-down", at: 4_000, forMs: 40_000, answers: "silent" };

test.each([
  ["delivered", [], undefined, ["delivered"]],
  ["in the way of a stop", [{ kind: "stop", at: 10_000, forMs: 60_000 }], undefined, ["delivered", "unavailable"]],
  ["given up", [targetDown], 500, ["Error: no patience", "not_begun"]],
] as const)("an injected message is answered with what became of it: %s", async (_, faults, patienceMs, answers) => {
  const told = await answersTo(planWith(false, faults, patienceMs));
  for (const answer of told) expect(answers).toContain(answer);
  expect(told).toContain(answers[0]);
});

test("a message that an operator gives up when it is in the outbox is pending, and delivered later", async () => {
  expect(await answersTo(planWith(true, [targetDown], 2_000))).toContain("pending");
});

function auditing(): Auditor {
  const { outbox: _, ...drawn } = draw(1);
  const auditor = new Auditor({
    ...drawn,
    faults: [],
    bindings: ["out"],
    messages: [{ number: 0, at: 0 }],
    drops: false,
  });
  auditor.injects.asked(0);
  return auditor;
}

test("an inject that is answered with what is not so is told of", () => {
  const early = auditing();
  early.injects.answered(0, "delivered");
  expect(early.violations.length).toBeGreaterThan(0);
  const nothing = auditing();
  nothing.targets.accepts(0, "out");
  nothing.injects.answered(0, "nothing");
  nothing.close();
  expect(nothing.violations).toEqual(["the inject of message 0 was answered with nothing, and out has got it"]);
  const repeated = auditing();
  repeated.injects.answered(0, "duplicate");
  expect(repeated.violations).toEqual(["the inject of message 0 was answered with duplicate"]);
});

test("an inject that nobody can tell the outcome of may have come to anything, and one that came to nothing is no loss", () => {
  for (const what of ["nothing", "failed"]) {
    const auditor = auditing();
    if (what === "failed") auditor.targets.accepts(0, "out");
    auditor.injects.answered(0, what);
    auditor.close();
    expect(auditor.violations).toEqual([]);
  }
});
