import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { holds, stopBudget } from "../src/stop-budget.ts";

describe("how a stop shares drain_timeout out", () => {
  test("finding 2.3: all of it fits, whatever is configured", () => {
    const ms = fc.integer({ min: 1, max: 3_600_000 });
    fc.assert(
      fc.property(ms, ms, (drainTimeoutMs, quiesceTimeoutMs) => {
        const { quiesceMs, endingMs, lastWordMs } = stopBudget({ drainTimeoutMs, quiesceTimeoutMs });
        expect(quiesceMs + endingMs).toBeLessThanOrEqual(drainTimeoutMs);
        expect(lastWordMs).toBeLessThan(endingMs);
        expect(quiesceMs).toBeLessThanOrEqual(quiesceTimeoutMs);
      }),
    );
  });

  test("with the defaults, nothing is cut", () => {
    const budgets = { drainTimeoutMs: 30_000, quiesceTimeoutMs: 25_000 };
    expect(stopBudget(budgets)).toEqual({ quiesceMs: 25_000, endingMs: 5_000, lastWordMs: 3_000 });
  });

  test("a budget that its parts exceed is refused by name", () => {
    holds("b", 3, { one: 1, two: 2 });
    expect(() => holds("b", 3, { one: 2, two: 2 })).toThrow("b has 3 ms, and its parts take 4: one 2, two 2");
  });
});
