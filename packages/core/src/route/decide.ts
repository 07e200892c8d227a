import type { RoutePolicy } from "@bridge/config";
import type { BridgeError } from "@bridge/ports";
import { backoffDelay } from "./backoff.ts";

/** What is to be done with a message that failed. */
export type FailureDecision =
  | { readonly kind: "retry"; readonly delayMs: number }
  | { readonly kind: "dlq" }
  | { readonly kind: "drop" };

export interface FailureFacts {
  /** How many attempts have been charged, this one included. */
  readonly attempt: number;
  /** How long the bridge has had the message, in milliseconds. */
  readonly ageMs: number;
}

/** A target that asks for a longer pause than this is asked again all the same. */
const MAX_RETRY_AFTER_MS = 300_000;

/**
 * The whole error handling of the bridge (spec 1.2, 7.3; contract §5): a pure function of the error, the attempt and
 * the policy.
 */
export function decide(
  error: BridgeError,
  facts: FailureFacts,
  policy: RoutePolicy,
  random: () => number,
): FailureDecision {
  switch (error.class) {
    case "transient": {
      const capUsed = error.charged && facts.attempt >= policy.maxReplayAttempts;
      const budgetLeft = facts.ageMs < policy.replayBudgetMs;
      if (capUsed && !budgetLeft) return { kind: policy.onPermanentFailure };
      const wait = backoffDelay(policy.backoff, Math.max(1, facts.attempt), random);
      return { kind: "retry", delayMs: Math.max(wait, Math.min(error.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS)) };
    }
    case "permanent":
    case "rejected":
      return { kind: policy.onPermanentFailure };
    case "expired":
      return { kind: policy.onExpired };
    case "filtered":
      return { kind: policy.onFiltered };
  }
}
