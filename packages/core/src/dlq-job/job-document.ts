import type { StoredJob } from "@bridge/ports";
import { OperationError } from "../operation-error.ts";
import type { Job, JobState } from "./job.ts";
import { isJob } from "./job-shape.ts";
import { planHash } from "./plan-hash.ts";

/** Of the document. A later one is a newer release's: it is left alone. */
const VERSION = 1;
/** What stores take of one job. */
const MAX_BYTES = 64 * 1024;

/** A job under its next revision. @throws OperationError `conflict` when it is larger than a store takes */
export function storedJob(job: Job, revision: number): StoredJob {
  const { id, state, createdAt } = job;
  return { id, revision, state, createdAt, document: documentOf(job) };
}

/** Within what a store takes: what is only shown goes first. */
function documentOf(job: Job): string {
  for (const make of [whole, withoutSample, withoutIds, withoutErrors]) {
    const document = JSON.stringify({ v: VERSION, ...make(job) });
    if (Buffer.byteLength(document) <= MAX_BYTES) return document;
  }
  throw new OperationError(
    "conflict",
    `what is to be written of job ${job.id} is larger than the ${MAX_BYTES} bytes that a job has: give a shorter filter, or name a route`,
  );
}

function whole(job: Job): Job {
  return job;
}

function withoutSample(job: Job): Job {
  return { ...job, plan: { ...job.plan, sample: [] } };
}

function withoutIds(job: Job): Job {
  return { ...withoutSample(job), errors: job.errors.map((group) => ({ ...group, ids: [] })) };
}

function withoutErrors(job: Job): Job {
  return { ...withoutSample(job), errors: [] };
}

/** `undefined` when it cannot be read, contradicts itself or what the store has beside it, or is a newer release's. */
export function readJob(stored: StoredJob): Job | undefined {
  const value = valueOf(stored.document);
  if (versionOf(value) !== VERSION || !isJob(value) || !isOf(stored, value) || !isAsPlanned(value)) return undefined;
  const { v: _, ...job } = value as Job & { readonly v: number };
  return job;
}

/** Whether a newer release has written it, which goes on with it. */
export function isNewers({ document }: StoredJob): boolean {
  return (versionOf(valueOf(document)) ?? VERSION) > VERSION;
}

/** What is shown of a job that cannot be read. Nobody knows what it was: calls need what the worse of the two kinds does. */
export function unreadableJob(stored: StoredJob): Job {
  const { id, createdAt } = stored;
  const why = isNewers(stored)
    ? "the job is a newer release's: it is only shown here"
    : "what is written of the job is damaged: it is only shown, and deleted when it is 7 days old and the trash has nothing of it; plan another one";
  return {
    id,
    kind: "purge",
    state: "failed",
    actor: "",
    reason: why,
    createdAt,
    query: {},
    settings: {
      rate: 0,
      concurrency: 0,
      ramp: [],
      rampPauseMs: 0,
      halt: { failureRatio: 1, minAttempts: 1, consecutive: 0 },
    },
    plan: {
      hash: "",
      total: 0,
      exact: false,
      estimatedBytes: 0,
      estimatedMs: 0,
      configVersion: 0,
      lanes: [],
      sample: [],
      warnings: [why],
    },
    updatedAt: createdAt,
    attempt: 1,
    total: 0,
    counts: { succeeded: 0, failed: 0, skipped: 0, inDoubt: 0, restored: 0 },
    pending: [],
    ahead: [],
    inFlight: 0,
    mostInFlight: 0,
    pace: 0,
    step: { index: 0, done: 0, failed: 0 },
    lanes: [],
    errors: [],
  };
}

/** Of the time a store may keep whole milliseconds. */
function isOf({ id, state, createdAt }: StoredJob, job: Job): boolean {
  return job.id === id && job.state === state && Math.abs(job.createdAt - createdAt) < 1;
}

/** Of a damaged purge nobody knows the plan, and only an undo of it is written. */
const WITHOUT_PLAN: readonly JobState[] = ["undoing", "undone", "failed"];

function isAsPlanned(job: Job): boolean {
  const { hash } = job.plan;
  return hash === planHash(job) || (hash === "" && job.kind === "purge" && WITHOUT_PLAN.includes(job.state));
}

function valueOf(document: string): unknown {
  try {
    return JSON.parse(document);
  } catch {
    return undefined;
  }
}

function versionOf(value: unknown): number | undefined {
  if (typeof value !== "object" || value === null || !("v" in value)) return undefined;
  return typeof value.v === "number" ? value.v : undefined;
}
