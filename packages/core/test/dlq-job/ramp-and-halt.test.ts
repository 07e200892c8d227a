import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { afterStep, type HaltPolicy, HaltWatch } from "../../src/dlq-job/halt.ts";
import { FIRST_STEP, isSettled, mayBegin, nextStep, shownStep } from "../../src/dlq-job/ramp.ts";

const never: HaltPolicy = { failureRatio: 1, minAttempts: 20, consecutive: 0 };

describe("the ramp", () => {
  it("lets so many attempts begin as a step has, and then waits until they have ended", () => {
    const ramp = [1, 10];
    expect(mayBegin(ramp, FIRST_STEP, 0)).toBe(true);
    expect(mayBegin(ramp, FIRST_STEP, 1)).toBe(false);
    expect(isSettled(ramp, { ...FIRST_STEP, done: 1 })).toBe(true);
    const second = nextStep(FIRST_STEP);
    expect(mayBegin(ramp, { ...second, done: 4 }, 5)).toBe(true);
    expect(mayBegin(ramp, { ...second, done: 4 }, 6)).toBe(false);
    const rest = nextStep(second);
    expect(mayBegin(ramp, { ...rest, done: 1_000_000 }, 200)).toBe(true);
    expect(isSettled(ramp, { ...rest, done: 1_000_000 })).toBe(false);
  });

  it("is shown from 1, with the rest as the last step", () => {
    const ramp = [1, 10, 100, 1000];
    expect(shownStep(ramp, { index: 4, done: 10_896, failed: 437 }, { total: 48_211, remaining: 36_204 })).toEqual({
      index: 5,
      of: 5,
      size: 47_100,
      done: 10_896,
      failed: 437,
    });
    const few = { total: 5, remaining: 2 };
    expect(shownStep(ramp, { index: 1, done: 2, failed: 0 }, few)).toMatchObject({ index: 2, of: 2, size: 4 });
  });

  it.each([
    ["before the first", { index: 0, done: 0 }, 200, { index: 1, of: 4, size: 1 }],
    ["that is filled to its last entry", { index: 0, done: 0 }, 111, { index: 1, of: 3, size: 1 }],
    ["with entries that needed no attempt", { index: 1, done: 0 }, 50, { index: 2, of: 3, size: 10 }],
    ["of what is done", { index: 3, done: 89 }, 0, { index: 4, of: 4, size: 89 }],
    ["of what none had to be attempted of", { index: 0, done: 0 }, 0, { index: 1, of: 1, size: 1 }],
    ["behind a ramp that was cut short meanwhile", { index: 6, done: 0 }, 50, { index: 5, of: 5, size: 0 }],
  ])("is shown of as many as what is left can fill: %s", (_, state, remaining, shown) => {
    const step = { ...state, failed: 0 };
    expect(shownStep([1, 10, 100, 1_000], step, { total: 200, remaining })).toMatchObject(shown);
  });
});

describe("halting", () => {
  it("looks at no ratio before there are enough attempts", () => {
    const watch = new HaltWatch();
    const policy = { failureRatio: 0.1, minAttempts: 20, consecutive: 0 };
    for (let attempt = 1; attempt < 20; attempt++) expect(watch.after(true, policy)).toBeUndefined();
    expect(watch.after(true, policy)).toEqual({ why: "failure_ratio", failed: 20, attempts: 20 });
  });

  it("is for failures in a row, whatever their ratio", () => {
    const watch = new HaltWatch();
    const policy = { ...never, consecutive: 3 };
    for (const failed of [true, true, false, true, true]) expect(watch.after(failed, policy)).toBeUndefined();
    expect(watch.after(true, policy)).toMatchObject({ why: "consecutive", failed: 5, attempts: 6 });
  });

  it("forgets what is longer ago than 200 attempts", () => {
    const watch = new HaltWatch();
    const policy = { failureRatio: 0.1, minAttempts: 100, consecutive: 0 };
    for (let attempt = 0; attempt < 10; attempt++) watch.after(true, policy);
    for (let attempt = 0; attempt < 200; attempt++) watch.after(false, policy);
    for (let attempt = 0; attempt < 20; attempt++) expect(watch.after(true, policy)).toBeUndefined();
    expect(watch.after(true, policy)).toMatchObject({ failed: 21, attempts: 200 });
  });

  it("agrees with a count over all outcomes", () => {
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { maxLength: 600 }),
        fc.record({
          failureRatio: fc.double({ min: 0, max: 1, noNaN: true }),
          minAttempts: fc.integer({ min: 1, max: 300 }),
          consecutive: fc.integer({ min: 0, max: 20 }),
        }),
        (outcomes, policy) => {
          const watch = new HaltWatch();
          for (const [index, failed] of outcomes.entries()) {
            const last = outcomes.slice(0, index + 1).slice(-200);
            const failures = last.filter(Boolean).length;
            const inRow = index - outcomes.slice(0, index + 1).lastIndexOf(false);
            const isRow = policy.consecutive > 0 && inRow >= policy.consecutive;
            const isRatio =
              last.length >= Math.min(policy.minAttempts, 200) && failures > last.length * policy.failureRatio;
            const why = isRow ? "consecutive" : isRatio ? "failure_ratio" : undefined;
            expect(watch.after(failed, policy)?.why).toBe(why);
          }
        },
      ),
    );
  });

  it("happens at the end of a step of one entry that failed, and never with a ratio of 1", () => {
    const policy = { failureRatio: 0.1, minAttempts: 20, consecutive: 10 };
    expect(afterStep({ done: 1, failed: 1 }, policy)).toEqual({ why: "failure_ratio", failed: 1, attempts: 1 });
    expect(afterStep({ done: 10, failed: 1 }, policy)).toBeUndefined();
    expect(afterStep({ done: 10, failed: 10 }, never)).toBeUndefined();
  });
});
