import { registerCases } from "../register-cases.ts";
import { transportCases } from "./transport-cases.ts";
import type { TransportSubject } from "./transport-subject.ts";

/** Registers the transport suite in vitest: one test for each case, its name saying what the subject is excused from. */
export function describeTransport(name: string, subject: TransportSubject): void {
  registerCases("transport", name, transportCases(subject), subject.except);
}
