import { BridgeError } from "@bridge/ports";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type LegOutcome, summarise } from "../../src/route/outcome.ts";
import { settlementOf } from "../../src/route/settlement.ts";
import { DISPOSITIONS } from "../../src/view/stats.ts";

const legs = fc.array(
  fc.record({ disposition: fc.constantFrom(...DISPOSITIONS), bindingId: fc.constantFrom("a", "b", "c") }),
  { minLength: 1, maxLength: 5 },
);

describe("settlement of a delivery", () => {
  test("cancellation never settles", () => {
    expect(settlementOf({ disposition: "abandoned", failedBindings: [] }, "m")).toBeUndefined();
  });

  test("a retry at the source releases with the delay; everything terminal accepts with its outcome", () => {
    expect(settlementOf({ disposition: "released", delayMs: 7, failedBindings: [] }, "m")).toEqual({
      kind: "release",
      delayMs: 7,
    });
    expect(settlementOf({ disposition: "released", failedBindings: [] }, "m")).toEqual({ kind: "release", delayMs: 0 });
    for (const outcome of [
      "delivered",
      "persisted",
      "dead_lettered",
      "dropped",
      "filtered",
      "expired",
      "duplicate",
    ] as const) {
      expect(settlementOf({ disposition: outcome, failedBindings: [] }, "m")).toEqual({
        kind: "accept",
        outcome,
        envelopeId: "m",
      });
    }
  });

  test("what was refused is not to come again: its owner is told why", () => {
    const error = new BridgeError("ID_CONFLICT", "another payload");
    expect(settlementOf({ disposition: "released", error, delayMs: 0, failedBindings: [] }, "m")).toEqual({
      kind: "release",
      delayMs: 0,
    });
    expect(settlementOf({ disposition: "released", error, failedBindings: [] }, "m")).toEqual({
      kind: "refuse",
      error,
    });
  });

  test("over all legs: nothing is told while one is abandoned; delivered only when every leg was", () => {
    fc.assert(
      fc.property(legs, (given: LegOutcome[]) => {
        const outcome = summarise(given);
        const has = (disposition: string): boolean => given.some((leg) => leg.disposition === disposition);
        expect(settlementOf(outcome, "m") === undefined).toBe(has("abandoned"));
        expect(outcome.disposition === "delivered").toBe(given.every((leg) => leg.disposition === "delivered"));
        expect(outcome.failedBindings).toEqual(
          given.filter((leg) => leg.disposition !== "delivered").map((leg) => leg.bindingId),
        );
      }),
    );
  });

  test("the gravest leg speaks for the delivery", () => {
    const outcome = summarise([
      { disposition: "delivered", bindingId: "a" },
      { disposition: "dropped", bindingId: "b" },
      { disposition: "dead_lettered", bindingId: "c" },
    ]);
    expect(outcome).toMatchObject({ disposition: "dead_lettered", failedBindings: ["b", "c"] });
  });
});
