import type { Case } from "../case.ts";
import { CHANGED_HEAD_CHECKS } from "./changed-head-checks.ts";
import { CHANGED_TRASH_CHECKS } from "./changed-trash-checks.ts";
import type { DlqPart, DlqPartCheck, DlqPartsSubject } from "./dlq-parts-subject.ts";
import { EXACT_COUNT_CHECKS } from "./exact-count-checks.ts";
import { FACET_CHECKS } from "./facet-checks.ts";
import { JOB_CHECKS } from "./job-checks.ts";
import { MARKING_CHECKS } from "./marking-checks.ts";
import { PAGING_CHECKS } from "./paging-checks.ts";
import { TAKING_BACK_CHECKS } from "./taking-back-checks.ts";
import { TRASH_CHECKS } from "./trash-checks.ts";

const CHECKS = {
  pages: { ...PAGING_CHECKS, ...CHANGED_HEAD_CHECKS },
  facets: { ...FACET_CHECKS, ...EXACT_COUNT_CHECKS },
  marks: MARKING_CHECKS,
  jobs: JOB_CHECKS,
  trash: { ...TRASH_CHECKS, ...TAKING_BACK_CHECKS, ...CHANGED_TRASH_CHECKS },
} satisfies Record<DlqPart, unknown>;

/** The name of a case begins with that of its part. */
export type DlqPartCaseName = {
  [Part in DlqPart]: `${Part}: ${Extract<keyof (typeof CHECKS)[Part], string>}`;
}[DlqPart];

const ALL = Object.keys(CHECKS) as readonly DlqPart[];

/** Everything that is demanded of the parts of a DLQ store. Cases of pages, facets and trash need marks. */
export function dlqPartCases(subject: DlqPartsSubject): readonly Case<DlqPartCaseName>[] {
  return (subject.parts ?? ALL).flatMap((part) =>
    Object.entries<DlqPartCheck>(CHECKS[part]).map(([name, check]) => ({
      name: `${part}: ${name}` as DlqPartCaseName,
      run: (signal: AbortSignal) => check(subject, signal),
    })),
  );
}
