/** Jobs, between the engine's words and those of the interface. @module */
import { type Job, type JobPlan, type JobSettings, planExpiresAt, progressOf } from "@bridge/core";
import { formatTimestamp } from "@bridge/ports/internal";
import type { InferOutput } from "valibot";
import { filterToWire } from "./dlq-filter.ts";
import type * as schemas from "./job-schemas.ts";

/** Of a job that its store does not take or tell: what is asked of it is done, and may have to be asked for again. */
const UNSTORED =
  "the DLQ store does not take or tell the job: it stands like this at this instance, which obeys at once and stores what was asked when that can be; should it be killed, or another instance take the job over before, ask again";

export function jobSummaryToWire(job: Job): InferOutput<typeof schemas.jobSummary> {
  const { state, startedAt, endedAt, undoWithinMs, undoUntil, halted } = job;
  return {
    id: job.id,
    kind: job.kind,
    state,
    ...(job.requested !== undefined && { requested: job.requested.call }),
    actor: job.actor,
    reason: job.reason,
    ...(job.owner !== undefined && { owner: job.owner.instanceId }),
    created_at: formatTimestamp(job.createdAt),
    as_of: formatTimestamp(job.createdAt),
    ...(state === "planned" && { expires_at: formatTimestamp(planExpiresAt(job)) }),
    ...(startedAt !== undefined && { started_at: formatTimestamp(startedAt) }),
    updated_at: formatTimestamp(job.updatedAt),
    ...(endedAt !== undefined && { ended_at: formatTimestamp(endedAt) }),
    filter: filterToWire(job.query),
    ...(job.limit !== undefined && { limit: job.limit }),
    ...(job.bindingId !== undefined && { binding_id: job.bindingId }),
    ...settingsToWire(job.settings),
    ...(undoWithinMs !== undefined && { undo_within_ms: undoWithinMs }),
    ...(undoUntil !== undefined && { undo_until: formatTimestamp(undoUntil) }),
    attempt: job.attempt,
    ...(job.waitingFor !== undefined && { waiting_for: job.waitingFor }),
    ...(job.unstored === true && { warning: UNSTORED }),
    ...(halted !== undefined && { halted: { ...halted, at: formatTimestamp(halted.at) } }),
    progress: progressToWire(job),
  };
}

/** `showsAddresses`: they may hold values of headers, which not everybody sees. */
export function jobToWire(job: Job, showsAddresses: boolean): InferOutput<typeof schemas.job> {
  return {
    ...jobSummaryToWire(job),
    plan: planToWire(job.plan, showsAddresses),
    errors: job.errors.map(({ code, error, count, ids }) => ({ code, error, count, ids: [...ids] })),
    lanes: job.lanes.map(({ routeId, done, total, ended, waitingFor }) => ({
      route_id: routeId,
      done,
      total,
      state: ended ? "ended" : waitingFor === undefined ? "running" : "waiting",
      ...(waitingFor !== undefined && { waiting_for: waitingFor }),
    })),
  };
}

export function settingsToWire({ rate, concurrency, ramp, rampPauseMs, halt }: JobSettings) {
  return {
    rate,
    concurrency,
    ramp: [...ramp],
    ramp_pause_ms: rampPauseMs,
    halt: { failure_ratio: halt.failureRatio, min_attempts: halt.minAttempts, consecutive: halt.consecutive },
  };
}

function progressToWire(job: Job): InferOutput<typeof schemas.jobSummary>["progress"] {
  const { inDoubt, inFlight, etaMs, restored, present, gone, exact, isLeftKnown, remaining, percent, ...rest } =
    progressOf(job);
  return {
    ...rest,
    ...(!exact && { exact }),
    ...(isLeftKnown && { remaining, percent }),
    in_doubt: inDoubt,
    ...(job.kind === "purge" && { restored, present }),
    ...(gone > 0 && { gone }),
    in_flight: inFlight,
    ...(etaMs !== undefined && { eta_ms: etaMs }),
  };
}

function planToWire(plan: JobPlan, showsAddresses: boolean): InferOutput<typeof schemas.job>["plan"] {
  const { oldestFailedAt, newestFailedAt, predicted } = plan;
  return {
    hash: plan.hash,
    total: plan.total,
    exact: plan.exact,
    estimated_bytes: plan.estimatedBytes,
    ...(oldestFailedAt !== undefined && { oldest_failed_at: formatTimestamp(oldestFailedAt) }),
    ...(newestFailedAt !== undefined && { newest_failed_at: formatTimestamp(newestFailedAt) }),
    estimated_ms: plan.estimatedMs,
    config_version: plan.configVersion,
    lanes: plan.lanes.map(({ routeId, count, why }) => ({
      route_id: routeId,
      count,
      ready: why === undefined,
      ...(why !== undefined && { why }),
    })),
    ...(predicted !== undefined && { predicted: predictedToWire(predicted) }),
    sample: plan.sample.map(({ failedAt, outcome, address, ...entry }) => ({
      ...entry,
      failed_at: formatTimestamp(failedAt),
      ...(outcome !== undefined && { outcome }),
      ...(showsAddresses && address !== undefined && { address }),
    })),
    warnings: [...plan.warnings],
  };
}

function predictedToWire({ orderingKeys, ...counts }: NonNullable<JobPlan["predicted"]>) {
  return { ...counts, ordering_keys: orderingKeys };
}
