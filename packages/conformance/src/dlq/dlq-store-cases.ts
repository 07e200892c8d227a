import type { Case } from "../case.ts";
import { ABORTING_CHECKS } from "./aborting-checks.ts";
import type { DlqCheck } from "./check.ts";
import { DELETING_CHECKS } from "./deleting-checks.ts";
import type { DlqStoreSubject } from "./dlq-store-subject.ts";
import { KEEPING_CHECKS } from "./keeping-checks.ts";
import { LISTING_CHECKS } from "./listing-checks.ts";

const CHECKS = { ...KEEPING_CHECKS, ...LISTING_CHECKS, ...DELETING_CHECKS, ...ABORTING_CHECKS };

export type DlqStoreCaseName = keyof typeof CHECKS;

/** Everything that is demanded of a DLQ store. */
export function dlqStoreCases(subject: DlqStoreSubject): readonly Case<DlqStoreCaseName>[] {
  return Object.entries<DlqCheck>(CHECKS).map(([name, check]) => ({
    name: name as DlqStoreCaseName,
    run: (signal) => check(subject, signal),
  }));
}
