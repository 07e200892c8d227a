import type { ShutdownBudgets } from "@bridge/config";

/**
 * How long one batch of an outbox drain may take, in milliseconds (spec 2.14): at least one full send, and for larger
 * batches a fixed time per record, up to the absolute ceiling.
 */
export function drainBudget(
  batchCount: number,
  sendTimeoutMs: number,
  budgets: Pick<ShutdownBudgets, "perRecordDrainTimeoutMs" | "maxDrainTimeoutMs">,
): number {
  const ceiling = Math.min(batchCount * budgets.perRecordDrainTimeoutMs, budgets.maxDrainTimeoutMs);
  return Math.max(sendTimeoutMs, ceiling);
}
