import { registerCases } from "../register-cases.ts";
import { dlqStoreCases } from "./dlq-store-cases.ts";
import type { DlqStoreSubject } from "./dlq-store-subject.ts";

/** Registers the DLQ suite in vitest: one test for each case, its name saying what the subject is excused from. */
export function describeDlqStore(name: string, subject: DlqStoreSubject): void {
  registerCases("DLQ store", name, dlqStoreCases(subject), subject.except);
}
