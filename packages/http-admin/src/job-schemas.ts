import { JOB_STATES } from "@bridge/core";
import * as v from "valibot";

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const number = v.pipe(v.number(), v.minValue(0));
const time = v.pipe(v.string(), v.metadata({ format: "date-time" }));
const text = v.optional(v.string());

const filter = v.pipe(v.record(v.string(), v.union([v.string(), v.boolean()])), v.description("As it was asked for."));

const halt = v.object({
  failure_ratio: v.pipe(number, v.maxValue(1)),
  min_attempts: count,
  consecutive: count,
});

const progress = v.object({
  total: count,
  done: v.pipe(count, v.description("Those that have an outcome: succeeded, failed in this try, skipped.")),
  succeeded: count,
  failed: count,
  skipped: v.pipe(
    count,
    v.description("Gone when their turn came, or quarantined, let go or assigned since the plan."),
  ),
  pending: v.pipe(count, v.description("In the outbox, which goes on delivering them.")),
  in_doubt: v.pipe(count, v.description("May have been sent twice, under one envelope id.")),
  restored: v.optional(v.pipe(count, v.description("Taken back: they were not there and are again."))),
  present: v.optional(
    v.pipe(count, v.description("There again already when the others came back: only their marks were added.")),
  ),
  gone: v.optional(v.pipe(count, v.description("Of an undo: not brought back, as they were not in the trash."))),
  exact: v.optional(v.pipe(v.boolean(), v.description("False: `total` was not counted in time, and is an estimate."))),
  remaining: v.optional(v.pipe(count, v.description("Absent when nobody knows: `total` is not exact, and is done."))),
  in_flight: count,
  percent: v.optional(number),
  rate: number,
  eta_ms: v.optional(count),
  step: v.object({ index: count, of: count, size: count, done: count, failed: count }),
});

const predicted = v.object({
  examined: count,
  deliverable: count,
  expired: count,
  filtered: count,
  no_route: count,
  failed: count,
  ordering_keys: count,
});

const plan = v.object({
  hash: v.pipe(v.string(), v.description("To be given at the start.")),
  total: count,
  exact: v.boolean(),
  estimated_bytes: count,
  oldest_failed_at: v.optional(time),
  newest_failed_at: v.optional(time),
  estimated_ms: count,
  config_version: v.pipe(v.number(), v.integer()),
  lanes: v.array(v.object({ route_id: v.string(), count, ready: v.boolean(), why: text })),
  predicted: v.optional(predicted),
  sample: v.array(
    v.object({
      id: v.string(),
      subject: v.string(),
      failed_at: time,
      outcome: v.optional(v.picklist(["deliverable", "expired", "filtered", "no_route", "failed"])),
      address: v.optional(
        v.pipe(
          v.string(),
          v.description(
            "For callers with `payload.read`, as headers may be part of it; of headers that `http.redact` names, with `payload.raw`.",
          ),
        ),
      ),
    }),
  ),
  warnings: v.array(v.string()),
});

const jobFields = {
  id: v.string(),
  kind: v.picklist(["redrive", "purge"]),
  state: v.picklist(JOB_STATES),
  requested: v.optional(
    v.pipe(v.picklist(["pause", "resume", "cancel", "undo"]), v.description("Asked for, and not done yet.")),
  ),
  actor: v.string(),
  reason: v.string(),
  owner: v.optional(v.pipe(v.string(), v.description("The instance that works on it."))),
  created_at: time,
  as_of: v.pipe(time, v.description("Entries that failed at or after it are not in the set.")),
  expires_at: v.optional(v.pipe(time, v.description("Of a plan: it has to be started by then."))),
  started_at: v.optional(time),
  updated_at: time,
  ended_at: v.optional(time),
  filter,
  limit: v.optional(count),
  binding_id: text,
  rate: number,
  concurrency: count,
  ramp: v.array(count),
  ramp_pause_ms: count,
  halt,
  undo_within_ms: v.optional(count),
  undo_until: v.optional(time),
  attempt: v.pipe(count, v.description("Counts `retry_failed`, from 1.")),
  waiting_for: text,
  warning: v.optional(
    v.pipe(
      v.string(),
      v.description("Its store does not take or tell it: what is shown, and asked of it, is not stored."),
    ),
  ),
  halted: v.optional(
    v.object({
      at: time,
      why: v.picklist(["failure_ratio", "consecutive", "store"]),
      failed: count,
      attempts: count,
      error: text,
    }),
  ),
  progress,
} as const;

export const jobSummary = v.object(jobFields);

export const job = v.object({
  ...jobFields,
  plan,
  errors: v.array(v.object({ code: v.string(), error: v.string(), count, ids: v.array(v.string()) })),
  lanes: v.array(
    v.object({
      route_id: v.string(),
      done: count,
      total: count,
      state: v.picklist(["running", "waiting", "ended"]),
      waiting_for: text,
    }),
  ),
});
