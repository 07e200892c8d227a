import type { BackoffPolicy } from "@bridge/config";

/**
 * How long to wait after the `attempt`-th failure in a row, in milliseconds: exponential, capped, and spread by the
 * policy's jitter so that messages that failed together do not come back together. Never above `maxIntervalMs`.
 */
export function backoffDelay(policy: BackoffPolicy, attempt: number, random: () => number): number {
  const base = Math.min(
    policy.maxIntervalMs,
    policy.initialIntervalMs * Math.min(policy.multiplier ** (attempt - 1), Number.MAX_VALUE),
  );
  const spread = 1 + policy.jitter * (2 * random() - 1);
  return Math.min(policy.maxIntervalMs, Math.max(0, base * spread));
}
