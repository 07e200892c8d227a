import type { Plan } from "../plan/plan.ts";
import { millisecondsOf } from "./audit/duration.ts";

/** A question of a store is so many ways, and is given up after this part of a lease. */
const WAYS = 3;
const ASKED_FOR = 1 / 8;
/** Whoever has lost a lease gives it up, and has it again within one more, or ends. */
const WITHOUT = 3;

/** For how long an instance may be without a lease at any time, because its store does not always answer in time. */
export function withoutLeaseMs({ leases, document }: Plan): number {
  const ttlMs = millisecondsOf(document.bridge?.lease_ttl) ?? Infinity;
  return leases !== undefined && WAYS * leases.latencyMs > ttlMs * ASKED_FOR ? WITHOUT * ttlMs : 0;
}
