import type { AuditAction, AuditEntry, Auditor } from "@bridge/audit";
import { type Job, type JobEvent, progressOf } from "@bridge/core";

const ACTIONS: Readonly<Record<JobEvent["kind"], AuditAction>> = {
  halted: "dlq.job.halted",
  adopted: "dlq.job.adopted",
  ended: "dlq.job.end",
};

/** Records what a job did of its own accord, with whoever has planned it as the actor. */
export function recordJob(auditor: Auditor, { kind, job }: JobEvent): void {
  void auditor.record({
    action: ACTIONS[kind],
    actor: job.actor,
    outcome: outcomeOf(kind, job),
    clientAddr: "",
    resourceId: job.id,
    detail: { kind: job.kind, state: job.state, reason: job.reason, ...countsOf(job), ...haltOf(job) },
  });
}

function outcomeOf(kind: JobEvent["kind"], job: Job): AuditEntry["outcome"] {
  if (kind === "adopted") return "success";
  if (kind === "halted") return "failure";
  const { succeeded, failed } = job.counts;
  const isWhole = (job.state === "completed" && failed === 0) || job.state === "undone";
  return isWhole ? "success" : succeeded > 0 ? "partial_failure" : "failure";
}

function countsOf(job: Job): Readonly<Record<string, number>> {
  const { total, succeeded, failed, skipped, pending, inDoubt, restored, present, gone, remaining, isLeftKnown } =
    progressOf(job);
  return {
    total,
    succeeded,
    failed,
    skipped,
    pending,
    in_doubt: inDoubt,
    restored,
    present,
    ...(gone > 0 && { gone }),
    ...(isLeftKnown && { remaining }),
  };
}

function haltOf({ halted }: Job): Readonly<Record<string, unknown>> {
  return halted === undefined
    ? {}
    : { why: halted.why, halted_failed: halted.failed, halted_attempts: halted.attempts };
}
