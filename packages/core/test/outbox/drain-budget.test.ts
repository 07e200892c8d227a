import fc from "fast-check";
import { expect, test } from "vitest";
import { drainBudget } from "../../src/outbox/drain-budget.ts";

const budgets = { perRecordDrainTimeoutMs: 3_000, maxDrainTimeoutMs: 10_000 };

test("spec 2.14: min(count × per record, maximum), never below one full send", () => {
  expect(drainBudget(1, 1_000, budgets)).toBe(3_000);
  expect(drainBudget(3, 1_000, budgets)).toBe(9_000);
  expect(drainBudget(500, 1_000, budgets)).toBe(10_000);
  expect(drainBudget(500, 30_000, budgets)).toBe(30_000);
});

test("spec 2.14: the ceiling only ever raises the budget", () => {
  const given = fc.record({ perRecordDrainTimeoutMs: fc.nat(60_000), maxDrainTimeoutMs: fc.nat(60_000) });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000 }),
      fc.integer({ min: 1, max: 60_000 }),
      given,
      (count, send, limits) => {
        const budget = drainBudget(count, send, limits);
        expect(budget).toBeGreaterThanOrEqual(send);
        expect(budget).toBeLessThanOrEqual(Math.max(send, limits.maxDrainTimeoutMs));
        expect(drainBudget(count + 1, send, limits)).toBeGreaterThanOrEqual(budget);
      },
    ),
  );
});
