import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextState, type TransactionEvent, type TransactionState } from "../../src/transaction/transaction-state.ts";

const OPEN: TransactionState = { kind: "open" };
const COMMITTING: TransactionState = { kind: "committing" };
const EVENTS: readonly TransactionEvent[] = [
  "patch",
  "commit",
  "refused",
  "committed",
  "committed_applying",
  "rolled_back",
  "committed_not_applied",
  "conflict",
  "discarded",
  "expired",
];

describe("a configuration transaction (spec 3.6)", () => {
  it.each<[TransactionState, TransactionEvent, TransactionState]>([
    [OPEN, "patch", OPEN],
    [OPEN, "commit", COMMITTING],
    [COMMITTING, "committed", { kind: "ended", as: "committed" }],
    [COMMITTING, "committed_applying", { kind: "ended", as: "committed_applying" }],
    [COMMITTING, "rolled_back", { kind: "ended", as: "rolled_back" }],
    [COMMITTING, "committed_not_applied", { kind: "ended", as: "committed_not_applied" }],
    [OPEN, "discarded", { kind: "ended", as: "discarded" }],
    // Contract §2: a 422 keeps it open, every other outcome ends it; and it expires.
    [COMMITTING, "refused", OPEN],
    [COMMITTING, "conflict", { kind: "ended", as: "conflict" }],
    [OPEN, "expired", { kind: "ended", as: "expired" }],
  ])("%j, %s: %j", (state, event, next) => {
    expect(nextState(state, event)).toEqual(next);
  });

  it("allows nothing else: 10 events in 2 states are 20, of which these are 10", () => {
    const allowed = [OPEN, COMMITTING].flatMap((state) => EVENTS.filter((event) => nextState(state, event)));
    expect(allowed).toHaveLength(10);
  });

  it("ends once, whatever happens, and never while it is being committed but by the commit's own outcome", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...EVENTS)), (events) => {
        let state = OPEN as TransactionState;
        let ends = 0;
        for (const event of events) {
          const next = nextState(state, event);
          if (state.kind === "ended") expect(next).toBeUndefined();
          if (next?.kind === "ended") ends++;
          if (state.kind === "committing")
            expect(["patch", "commit", "discarded", "expired"].includes(event) && next).toBeFalsy();
          state = next ?? state;
        }
        expect(ends).toBe(state.kind === "ended" ? 1 : 0);
      }),
    );
  });
});
