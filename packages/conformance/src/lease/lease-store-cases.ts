import type { Case } from "../case.ts";
import type { LeaseCheck } from "./check.ts";
import { ENDING_CHECKS } from "./ending-checks.ts";
import { KEEPING_CHECKS } from "./keeping-checks.ts";
import type { LeaseStoreSubject } from "./lease-store-subject.ts";
import { RACING_CHECKS } from "./racing-checks.ts";
import { REPLACING_CHECKS } from "./replacing-checks.ts";

const CHECKS = { ...KEEPING_CHECKS, ...REPLACING_CHECKS, ...RACING_CHECKS, ...ENDING_CHECKS };

export type LeaseStoreCaseName = keyof typeof CHECKS;

/** Everything that is demanded of a lease store. */
export function leaseStoreCases(subject: LeaseStoreSubject): readonly Case<LeaseStoreCaseName>[] {
  return Object.entries<LeaseCheck>(CHECKS).map(([name, check]) => ({
    name: name as LeaseStoreCaseName,
    run: (signal) => check(subject, signal),
  }));
}
