import { BridgeError, ERROR_CODES, type ErrorCode } from "@bridge/ports";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decide } from "../../src/route/decide.ts";
import { policyOf } from "../support/policy.ts";

const half = (): number => 0.5;
const facts = { attempt: 1, ageMs: 0 };
const error = (code: ErrorCode): BridgeError => new BridgeError(code, "failed");

describe("spec 1.2 and 7.3: what becomes of a message that failed", () => {
  test.each(["TIMEOUT", "CONNECTION_LOST", "UNAVAILABLE", "THROTTLED", "INTERNAL"] as const)(
    "%s is retried with backoff up to the replay cap, then follows on_permanent_failure",
    (code) => {
      const policy = policyOf({ maxReplayAttempts: 3 });
      const attempts = [1, 2, 3].map((attempt) => decide(error(code), { attempt, ageMs: 0 }, policy, half));
      expect(attempts).toEqual([{ kind: "retry", delayMs: 1_000 }, { kind: "retry", delayMs: 2_000 }, { kind: "dlq" }]);
    },
  );

  test.each([
    "INVALID_PAYLOAD",
    "NOT_AUTHORIZED",
    "FORBIDDEN",
    "PAYLOAD_TOO_LARGE",
    "SCHEMA_VIOLATION",
    "REJECTED",
    "ID_CONFLICT",
    "DESTINATION_NOT_FOUND",
    "BINDING_UNRESOLVED",
  ] as const)("%s follows on_permanent_failure at once", (code) => {
    expect(decide(error(code), facts, policyOf(), half)).toEqual({ kind: "dlq" });
    expect(decide(error(code), facts, policyOf({ onPermanentFailure: "drop" }), half)).toEqual({ kind: "drop" });
  });

  test("MESSAGE_EXPIRED follows on_expired, MESSAGE_FILTERED follows on_filtered", () => {
    const policy = policyOf({ onExpired: "drop", onFiltered: "dlq" });
    expect(decide(error("MESSAGE_EXPIRED"), facts, policy, half)).toEqual({ kind: "drop" });
    expect(decide(error("MESSAGE_FILTERED"), facts, policy, half)).toEqual({ kind: "dlq" });
  });

  test("with a replay budget a transient error reaches the policy only after the cap and that age", () => {
    const policy = policyOf({ maxReplayAttempts: 2, replayBudgetMs: 60_000 });
    expect(decide(error("TIMEOUT"), { attempt: 9, ageMs: 59_999 }, policy, half).kind).toBe("retry");
    expect(decide(error("TIMEOUT"), { attempt: 1, ageMs: 60_001 }, policy, half).kind).toBe("retry");
    expect(decide(error("TIMEOUT"), { attempt: 2, ageMs: 60_000 }, policy, half).kind).toBe("dlq");
  });

  test("a target's Retry-After raises the delay, within a bound, and never lowers it", () => {
    const asking = (retryAfterMs: number): BridgeError => new BridgeError("THROTTLED", "slow down", { retryAfterMs });
    expect(decide(asking(20_000), facts, policyOf(), half)).toEqual({ kind: "retry", delayMs: 20_000 });
    expect(decide(asking(5), facts, policyOf(), half)).toEqual({ kind: "retry", delayMs: 1_000 });
    expect(decide(asking(1e12), facts, policyOf(), half)).toEqual({ kind: "retry", delayMs: 300_000 });
  });

  test("an error that is not charged never uses up the cap", () => {
    const uncharged = new BridgeError("UNAVAILABLE", "circuit open", { charged: false });
    expect(decide(uncharged, { attempt: 99, ageMs: 1e9 }, policyOf(), half).kind).toBe("retry");
  });
});

test("every code, attempt and policy comes to exactly one of retry, dlq and drop, and only a transient one to retry", () => {
  const codes = fc.constantFrom(...(Object.keys(ERROR_CODES) as ErrorCode[]));
  const actions = fc.constantFrom("dlq" as const, "drop" as const);
  const policies = fc.record({
    maxReplayAttempts: fc.integer({ min: 1, max: 20 }),
    replayBudgetMs: fc.nat(100_000),
    onPermanentFailure: actions,
    onExpired: actions,
    onFiltered: actions,
  });
  const given = fc.record({ attempt: fc.integer({ min: 1, max: 40 }), ageMs: fc.nat(200_000) });
  fc.assert(
    fc.property(codes, given, policies, (code, situation, changes) => {
      const policy = policyOf(changes);
      const decision = decide(error(code), situation, policy, half);
      const transient = ERROR_CODES[code] === "transient";
      if (decision.kind === "retry") {
        expect(transient).toBe(true);
        expect(situation.attempt < policy.maxReplayAttempts || situation.ageMs < policy.replayBudgetMs).toBe(true);
      } else if (transient) {
        expect(situation.attempt).toBeGreaterThanOrEqual(policy.maxReplayAttempts);
      }
    }),
  );
});
