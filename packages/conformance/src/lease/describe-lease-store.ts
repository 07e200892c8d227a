import { registerCases } from "../register-cases.ts";
import { leaseStoreCases } from "./lease-store-cases.ts";
import type { LeaseStoreSubject } from "./lease-store-subject.ts";

/** Registers the lease suite in vitest: one test for each case, its name saying what the subject is excused from. */
export function describeLeaseStore(name: string, subject: LeaseStoreSubject): void {
  registerCases("lease store", name, leaseStoreCases(subject), subject.except);
}
