import type { StoredJob } from "@bridge/ports";
import { sealJob, unsealJob } from "@bridge/ports/internal";
import { OperationError } from "../operation-error.ts";
import type { Job } from "./job.ts";

/**
 * Of the document: what a job of it has and what that means. A release that changes one of them, or cannot do without a new field, counts it up;
 * a later one is a newer release's, and left alone. The seal is the same in all.
 */
const VERSION = 1;
/** What stores take of one job. */
const MAX_BYTES = 64 * 1024;

/** A job under its next revision. @throws OperationError `conflict` when it is larger than a store takes */
export function storedJob(job: Job, revision: number): StoredJob {
  const { id, state } = job;
  // Stores keep whole milliseconds.
  const beside = { id, revision, state, createdAt: Math.floor(job.createdAt) };
  // Within what a store takes: what is only shown goes first.
  for (const make of [whole, withoutSample, withoutIds, withoutErrors]) {
    const document = sealJob(beside, JSON.stringify({ v: VERSION, ...make(job) }));
    if (Buffer.byteLength(document) <= MAX_BYTES) return { ...beside, document };
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

/** Why a job cannot be read: it is not as it was written, or a newer release has written it, which goes on with it. */
type Unreadable = "damaged" | "newer";

export function readJob(stored: StoredJob): Job | Unreadable {
  const json = unsealJob(stored);
  if (json === undefined) return "damaged";
  const { v, ...job } = JSON.parse(json) as Job & { readonly v: number };
  return v > VERSION ? "newer" : job;
}

function whyUnreadable(id: string, unreadable: Unreadable): string {
  if (unreadable === "newer") return "the job is a newer release's: it is only shown here";
  const when = isNameable(id)
    ? "when it is 7 days old and the trash has nothing of it"
    : "as soon as the trash has nothing of it";
  return `what is written of the job is damaged: it is only shown, and deleted ${when}; plan another one`;
}

/** Whether a call can have the id in its path: of these a client or a server makes another path. Such a one only somebody else writes. */
export function isNameable(id: string): boolean {
  return !["", ".", ".."].includes(id);
}

/** What is shown of a job that cannot be read. Nobody knows what it was: calls need what the worse of the two kinds does. */
export function unreadableJob({ id, createdAt }: StoredJob, unreadable: Unreadable): Job {
  const why = whyUnreadable(id, unreadable);
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
