import { registerCases } from "../register-cases.ts";
import { hostileCases } from "./hostile-cases.ts";
import type { HostileSubject } from "./hostile-subject.ts";

/** Registers the hostile suite in vitest: one test for each case, its name saying what the subject is excused from. */
export function describeHostileSource(name: string, subject: HostileSubject): void {
  registerCases("hostile", name, hostileCases(subject), subject.except);
}
