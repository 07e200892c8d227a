import { registerCases } from "../register-cases.ts";
import { outboxStoreCases } from "./outbox-store-cases.ts";
import type { OutboxStoreSubject } from "./outbox-store-subject.ts";

/** Registers the outbox suite in vitest: one test for each case, its name saying what the subject is excused from. */
export function describeOutboxStore(name: string, subject: OutboxStoreSubject): void {
  registerCases("outbox store", name, outboxStoreCases(subject), subject.except);
}
