import type { InjectResult } from "@bridge/core";

/** Why a route settled a message without delivering it, in words. */
export const REASONS = {
  dropped: "dropped by the route's failure policy",
  filtered: "filtered out by a processor",
  expired: "already expired",
  dead_lettered: "written to the DLQ",
} as const;

export function explain({ failedBindings, error }: InjectResult, reason: string): string {
  const where = failedBindings.length === 0 ? "" : ` by ${failedBindings.join(", ")}`;
  return `not delivered${where}: ${reason}${error === undefined ? "" : `: ${error.message}`}`;
}
