import type { BridgeConfig } from "@bridge/config";
import type { Job, JobCall, JobRequest } from "./job.ts";
import type { KeptJob } from "./job-book.ts";
import type { JobDraft } from "./job-planner.ts";
import { JobRefusal } from "./job-refusal.ts";
import { type Answer, answerTo, comingState } from "./job-state.ts";
import type { SetCount } from "./set-count.ts";

/** How things stand when a plan is to be carried out. */
interface ByNow {
  readonly configVersion: number;
  /** Whether another configuration than that of the plan is accepted. */
  readonly accepted: boolean;
  /** What a purge would take, where that is known. */
  readonly found: SetCount | undefined;
}

/** Of what was asked for and has not come to pass. */
const UNDER_WAY: Readonly<Record<JobRequest["call"], string>> = {
  pause: "being paused",
  resume: "being resumed",
  cancel: "being cancelled",
  undo: "being undone",
};

/** @throws JobRefusal `state`, with what keeps the job from it: what was asked for before, until that has come to pass */
export function refuseCall(job: Job, call: JobCall): never {
  if (job.state === "failed") throw new JobRefusal("state", `the job is failed: ${job.reason}`);
  if (job.kind === "redrive" && call === "undo") throw new JobRefusal("state", "a redrive cannot be undone");
  throw new JobRefusal("state", `the job is ${standing(job)}`);
}

/** @throws JobRefusal `state` */
export function notRefused(next: Job | Answer, job: Job, call: JobCall): Job {
  return "id" in next ? next : refuseCall(job, call);
}

/** @throws JobRefusal `ended` when nothing of the job can be changed any more: it is over, or is to be */
export function refuseEnded(job: Job): void {
  if (answerTo({ kind: job.kind, state: comingState(job) }, "change").kind === "refused")
    throw new JobRefusal("ended", `the job is ${standing(job)}: nothing of it can be changed`);
}

function standing({ state, requested }: Job): string {
  return requested === undefined ? state : UNDER_WAY[requested.call];
}

/** @throws JobRefusal `plan_changed` when the plan that was looked at is another one */
export function refuseOtherPlan({ plan }: Job, planHash: string): void {
  if (planHash !== plan.hash) throw otherPlan();
}

/** @throws JobRefusal `plan_changed` when what would be done is not what the plan has shown */
export function refuseChanged({ plan }: Job, { configVersion, accepted, found }: ByNow): void {
  if (configVersion !== plan.configVersion && !accepted) throw otherPlan();
  const why = found && whyOther(found, plan);
  if (why !== undefined) throw new JobRefusal("plan_changed", `${why}: plan it again`);
}

/** @throws JobRefusal `route_busy` when a route of it is in another job that has begun */
export function refuseBusy({ id, lanes }: Job, others: readonly KeptJob[]): void {
  const routes = new Set(lanes.map(({ routeId }) => routeId));
  for (const { job } of others) {
    if (job.id === id || job.state === "planned") continue;
    const both = job.lanes.find(({ routeId }) => routes.has(routeId));
    if (both !== undefined) throw new JobRefusal("route_busy", `route ${both.routeId} is in job ${job.id} already`);
  }
}

/** @throws JobRefusal `too_late` when what was purged cannot be taken back any more */
export function refuseErased({ undoUntil, startedAt, endedAt }: Job, now: number): void {
  if (startedAt === undefined || (undoUntil !== undefined && now < undoUntil)) return;
  // oxlint-disable-next-line no-restricted-globals -- of a time that is given
  const at = new Date(undoUntil ?? endedAt ?? startedAt).toISOString();
  // Another instance's clock may not be there yet: only what this one knows is told.
  const why =
    undoUntil === undefined
      ? `the entries were erased at ${at}`
      : `undo_within ended at ${at} by this instance's clock`;
  throw new JobRefusal("too_late", why);
}

/** @throws JobRefusal `too_late` when nothing of what was purged is there */
export function refuseEmpty(): never {
  throw new JobRefusal(
    "too_late",
    "none of the entries is in the trash any more: they were delivered meanwhile, or erased",
  );
}

/** @throws JobRefusal `binding` when the route has not got the binding that all entries are to go to */
export function refuseBinding({ bindingId, query }: JobDraft, { routes }: BridgeConfig): void {
  if (bindingId === undefined) return;
  const route = routes.find(({ id }) => id === query.routeId);
  if (route?.bindings.includes(bindingId) !== true)
    throw new JobRefusal("binding", [
      "binding_id: route ",
      { sent: `${query.routeId ?? ""} ` },
      "has no binding",
      { sent: ` ${bindingId}` },
    ]);
}

function otherPlan(): JobRefusal {
  return new JobRefusal("plan_changed", "the plan is another one: look at it again");
}

/** Why what a purge would take by now is not what its plan has shown, as far as counts tell: it takes the oldest first. */
function whyOther({ total, oldestFailedAt }: SetCount, plan: Job["plan"]): string | undefined {
  if (total > plan.total) return `the plan showed ${plan.total} entries and ${total} match by now`;
  const hasOlder = oldestFailedAt !== undefined && oldestFailedAt < (plan.oldestFailedAt ?? oldestFailedAt);
  return hasOlder ? "entries match by now that failed before the oldest one of the plan" : undefined;
}
