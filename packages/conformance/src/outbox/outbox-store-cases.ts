import type { Case } from "../case.ts";
import { ABORTING_CHECKS } from "./aborting-checks.ts";
import { BLOCKED_KEY_CHECKS } from "./blocked-key-checks.ts";
import type { OutboxCheck } from "./check.ts";
import { CLAIMING_CHECKS } from "./claiming-checks.ts";
import { DUPLICATE_CHECKS } from "./duplicate-checks.ts";
import { FINISHING_CHECKS } from "./finishing-checks.ts";
import { KEEPING_CHECKS } from "./keeping-checks.ts";
import { LISTING_CHECKS } from "./listing-checks.ts";
import { ORDERING_CHECKS } from "./ordering-checks.ts";
import type { OutboxStoreSubject } from "./outbox-store-subject.ts";
import { RACING_CHECKS } from "./racing-checks.ts";
import { SPOILED_CHECKS } from "./spoiled-checks.ts";
import { SURVIVING_CHECKS } from "./surviving-checks.ts";

const CHECKS = {
  ...KEEPING_CHECKS,
  ...DUPLICATE_CHECKS,
  ...CLAIMING_CHECKS,
  ...ORDERING_CHECKS,
  ...FINISHING_CHECKS,
  ...LISTING_CHECKS,
  ...BLOCKED_KEY_CHECKS,
  ...RACING_CHECKS,
  ...SURVIVING_CHECKS,
  ...SPOILED_CHECKS,
  ...ABORTING_CHECKS,
};

export type OutboxStoreCaseName = keyof typeof CHECKS;

/** Everything that is demanded of an outbox store. */
export function outboxStoreCases(subject: OutboxStoreSubject): readonly Case<OutboxStoreCaseName>[] {
  return Object.entries<OutboxCheck>(CHECKS).map(([name, check]) => ({
    name: name as OutboxStoreCaseName,
    run: (signal) => check(subject, signal),
  }));
}
