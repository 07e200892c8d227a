import { expect, test } from "vitest";
import { draw, type Fault, type Plan, runPlan } from "../src/index.ts";
import type { CallerHabits } from "../src/plan/plan.ts";
import { Auditor } from "../src/run/auditor.ts";

/** A caller every second, of a bridge that has an outbox or none. */
function planWith(outbox: boolean, habits: Partial<CallerHabits>, faults: readonly Fault[]): Plan {
  let seed = 1;
  let drawn = draw(seed);
  while (drawn.callers === undefined || (drawn.outbox !== undefined) !== outbox || drawn.instances !== 1)
    drawn = draw(++seed);
  const policy = { max_replay_attempts: 1_000, send_timeout: "1s" };
  return {
    ...drawn,
    document: { ...drawn.document, routes: (drawn.document.routes ?? []).map((route) => ({ ...route, policy })) },
    maxReplayAttempts: 1_000,
    callers: { latencyMs: 10, patienceMs: 8_000, responseTimeoutMs: 5_000, keyed: true, ...habits },
    messages: Array.from({ length: 20 }, (_, number) => ({ number, at: 5_000 + number * 1_000 })),
    target: { latencyMs: 10, refuses: 0, loses: 0, silent: 0, slow: 0 },
    faults,
    calmAt: 60_000,
  };
}

/** What callers are told, and how often. */
async function answersTo(plan: Plan): Promise<Readonly<Record<string, number>>> {
  const { trace, violations } = await runPlan(plan, true);
  expect(violations).toEqual([]);
  const told: Record<string, number> = {};
  for (const line of trace) {
    const [, what] = /the caller of \d+ is told (.*)/.exec(line) ?? [];
    if (what !== undefined) told[what] = (told[what] ?? 0) + 1;
  }
  return told;
}

const targetDown: Fault = { kind: "target-down", at: 4_000, forMs: 40_000, answers: "refuses" };

test("each caller is answered when its message is settled", async () => {
  for (const outbox of [false, true]) expect(await answersTo(planWith(outbox, {}, []))).toEqual({ accepted: 20 });
});

test("where nothing comes of a message in time its caller is told so, repeats its request, and is accepted at last", async () => {
  const told = await answersTo(planWith(false, {}, [targetDown]));
  expect(told["accepted"]).toBe(20);
  expect(told["unavailable"]).toBeGreaterThan(20);
});

test("a caller without patience repeats its request while the first one is at work", async () => {
  const told = await answersTo(planWith(false, { patienceMs: 2_000, keyed: false }, [targetDown]));
  expect(told["accepted"]).toBe(20);
  expect(told["nothing"]).toBeGreaterThan(20);
});

test("a caller that gives up is no loss, and one that was accepted and is nowhere is", async () => {
  const told = await answersTo(planWith(false, { repeats: 0 }, [targetDown]));
  expect(told["accepted"] ?? 0).toBeLessThan(20);
  for (const gaveUp of [false, true]) {
    const auditor = new Auditor({
      ...planWith(false, {}, []),
      bindings: ["out"],
      messages: [{ number: 0, at: 0 }],
      drops: false,
    });
    auditor.source.published(0);
    if (gaveUp) auditor.source.givenUp(0);
    else auditor.source.forgotten(0);
    auditor.close();
    expect(auditor.violations.length).toBe(gaveUp ? 0 : 1);
  }
});

test("callers are told to repeat while the bridge stops, and nobody answers while none runs", async () => {
  const told = await answersTo(
    planWith(false, {}, [
      { kind: "stop", at: 10_000, forMs: 10_000 },
      { kind: "kill", at: 22_500, forMs: 3_000 },
    ]),
  );
  expect(told["accepted"]).toBe(20);
  expect(told["unavailable"]).toBeGreaterThan(0);
});

test("no caller waits for more bindings of a message than the rate limit lets go at once", () => {
  const tooMany = Array.from({ length: 2_000 }, (_, seed) => draw(seed)).filter(({ callers, bindings, document }) => {
    const { routes = [], senders = [] } = document;
    const bursts = [...routes, ...senders].map(({ rate_limit: limit }) => limit?.burst ?? Infinity);
    return callers !== undefined && Math.min(...bursts) < bindings.length;
  });
  expect(tooMany).toEqual([]);
});
