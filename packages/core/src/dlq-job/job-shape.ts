import type { DeadLetterPosition, DeadLetterQuery } from "@bridge/ports";
import type { ErrorGroup } from "./error-groups.ts";
import { type Job, JOB_STATES } from "./job.ts";
import type { JobPlan, PlannedEntry, PlannedLane, Prediction } from "./job-plan.ts";

/** Whether a value that was read is of the type that was written. */
type Check = (value: unknown) => boolean;

/** Whether it has the types of a job, down to its last field; what it has besides is a newer release's. */
export function isJob(value: unknown): value is Job {
  return JOB(value);
}

const text: Check = (value) => typeof value === "string";
const number: Check = (value) => Number.isFinite(value);
const flag: Check = (value) => typeof value === "boolean";

function oneOf(...values: readonly unknown[]): Check {
  return (value) => values.includes(value);
}

function optional(check: Check): Check {
  return (value) => value === undefined || check(value);
}

function list(check: Check): Check {
  return (value) => Array.isArray(value) && value.every(check);
}

/** All fields of `Whole`, so that none is left out that is added to it. */
type Fields<Whole> = { readonly [Name in keyof Required<Whole>]: Check };

function object(fields: Readonly<Record<string, Check>>): Check {
  const checks = Object.entries(fields);
  return (value) =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    checks.every(([name, check]) => check((value as Readonly<Record<string, unknown>>)[name]));
}

const POSITION = object({ failedAt: number, id: text } satisfies Fields<DeadLetterPosition>);

const QUERY = object({
  routeId: optional(text),
  bindingId: optional(text),
  category: optional(text),
  errorCode: optional(text),
  fingerprint: optional(text),
  envelopeId: optional(text),
  correlationId: optional(text),
  subjectPrefix: optional(text),
  since: optional(number),
  before: optional(number),
  assignee: optional(text),
  quarantined: optional(flag),
  jobId: optional(text),
} satisfies Fields<DeadLetterQuery>);

const SETTINGS = object({
  rate: number,
  concurrency: number,
  ramp: list(number),
  rampPauseMs: number,
  halt: object({ failureRatio: number, minAttempts: number, consecutive: number } satisfies Fields<
    Job["settings"]["halt"]
  >),
} satisfies Fields<Job["settings"]>);

const OUTCOME = oneOf("deliverable", "expired", "filtered", "no_route", "failed");

const PLAN = object({
  hash: text,
  total: number,
  exact: flag,
  estimatedBytes: number,
  oldestFailedAt: optional(number),
  newestFailedAt: optional(number),
  estimatedMs: number,
  configVersion: number,
  lanes: list(object({ routeId: text, count: number, why: optional(text) } satisfies Fields<PlannedLane>)),
  predicted: optional(
    object({
      examined: number,
      orderingKeys: number,
      deliverable: number,
      expired: number,
      filtered: number,
      no_route: number,
      failed: number,
    } satisfies Fields<Prediction>),
  ),
  sample: list(
    object({
      id: text,
      subject: text,
      failedAt: number,
      outcome: optional(OUTCOME),
      address: optional(text),
    } satisfies Fields<PlannedEntry>),
  ),
  warnings: list(text),
} satisfies Fields<JobPlan>);

const JOB = object({
  id: text,
  kind: oneOf("redrive", "purge"),
  state: oneOf(...JOB_STATES),
  requested: optional(
    object({
      call: oneOf("pause", "resume", "cancel", "undo"),
      retryFailed: optional(oneOf(true)),
    } satisfies Fields<NonNullable<Job["requested"]>>),
  ),
  actor: text,
  reason: text,
  createdAt: number,
  query: QUERY,
  limit: optional(number),
  until: optional(POSITION),
  bindingId: optional(text),
  undoWithinMs: optional(number),
  undoUntil: optional(number),
  settings: SETTINGS,
  plan: PLAN,
  asked: optional(object({ key: text, body: text } satisfies Fields<NonNullable<Job["asked"]>>)),
  owner: optional(object({ instanceId: text, holder: text, beat: number } satisfies Fields<NonNullable<Job["owner"]>>)),
  startedAt: optional(number),
  updatedAt: number,
  endedAt: optional(number),
  waitingFor: optional(text),
  halted: optional(
    object({
      at: number,
      why: oneOf("failure_ratio", "consecutive", "store"),
      failed: number,
      attempts: number,
      error: optional(text),
    } satisfies Fields<NonNullable<Job["halted"]>>),
  ),
  attempt: number,
  total: number,
  counts: object({
    succeeded: number,
    failed: number,
    skipped: number,
    inDoubt: number,
    restored: number,
    present: optional(number),
    gone: optional(number),
  } satisfies Fields<Job["counts"]>),
  pending: list(text),
  ahead: list(text),
  inFlight: number,
  mostInFlight: number,
  pace: number,
  step: object({ index: number, done: number, failed: number } satisfies Fields<Job["step"]>),
  lanes: list(
    object({
      routeId: text,
      total: number,
      done: number,
      failed: number,
      cursor: optional(POSITION),
      ended: flag,
      waitingFor: optional(text),
    } satisfies Fields<Job["lanes"][number]>),
  ),
  uncounted: optional(oneOf(true)),
  cursor: optional(POSITION),
  movedAhead: optional(number),
  toRestore: optional(number),
  errors: list(
    object({ fingerprint: text, code: text, error: text, count: number, ids: list(text) } satisfies Fields<ErrorGroup>),
  ),
  unstored: optional(oneOf(true)),
} satisfies Fields<Job>);
