import type { RoutePolicy } from "@bridge/config";
import type { BridgeError } from "@bridge/ports";
import { backoffDelay } from "./backoff.ts";

/** What to do with a failed message. */
export type FailureDecision =
  | { readonly kind: "retry"; readonly delayMs: number }
  | { readonly kind: "dlq" }
  | { readonly kind: "drop" };

export interface FailureFacts {
  /** Attempts charged so far, including this one. */
  readonly attempt: number;
  /** How long the bridge has held the message, in milliseconds. */
  readonly ageMs: number;
}

/** Caps the pause that a target asks for with `retryAfterMs`. */
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
