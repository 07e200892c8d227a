import type { JobFacts } from "@bridge/core";
import type { Permission } from "@bridge/ports/internal";

type JobCall = "plan" | "start" | "resume" | "change" | "pause" | "cancel" | "undo";

const BASE: Readonly<Record<JobFacts["kind"], Permission>> = { redrive: "dlq.redrive", purge: "dlq.delete" };

/** After them less happens than before, or comes back: whoever may do the least with such a job may stop it. */
const SAFER: readonly JobCall[] = ["pause", "cancel", "undo"];

/** All that a call may need. */
export const JOB_PERMISSIONS: readonly Permission[] = [...Object.values(BASE), "dlq.purge", "dlq.edit"];

/** What a call on a job needs (operators 12.4): all that planning the job does, whoever has planned it. What decides that never changes. */
export function neededFor(call: JobCall, { kind, query, bindingId }: JobFacts): readonly Permission[] {
  const needed = [BASE[kind]];
  if (SAFER.includes(call)) return needed;
  if (kind === "purge" && Object.keys(query).length === 0) needed.push("dlq.purge");
  if (bindingId !== undefined) needed.push("dlq.edit");
  return needed;
}
