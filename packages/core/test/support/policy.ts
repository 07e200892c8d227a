import type { RoutePolicy } from "@bridge/config";

/** The defaults of a route's policy, with changes. */
export function policyOf(changes: Partial<RoutePolicy> = {}): RoutePolicy {
  return {
    maxInFlight: 100,
    maxReplayAttempts: 5,
    replayBudgetMs: 0,
    sendTimeoutMs: 30_000,
    maxOutboxDepth: 10_000,
    ackAfter: "target_accept",
    onPermanentFailure: "dlq",
    onExpired: "dlq",
    onFiltered: "drop",
    allowUnfenced: false,
    backoff: { initialIntervalMs: 1_000, maxIntervalMs: 30_000, multiplier: 2, jitter: 0.2 },
    ...changes,
  };
}
