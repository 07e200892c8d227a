import { registerCases } from "../register-cases.ts";
import { dlqPartCases } from "./dlq-part-cases.ts";
import type { DlqPartsSubject } from "./dlq-parts-subject.ts";

/** Registers the suite of what a DLQ store may have besides: pages by key, counts by groups, marks, jobs and a trash. */
export function describeDlqParts(name: string, subject: DlqPartsSubject): void {
  registerCases("DLQ parts", name, dlqPartCases(subject), subject.except);
}
