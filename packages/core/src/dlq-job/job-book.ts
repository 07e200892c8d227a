import type { Clock, DlqJobs, StoredJob } from "@bridge/ports";
import { askStore } from "../dlq/ensure-marked.ts";
import { OperationError } from "../operation-error.ts";
import type { Job, JobState } from "./job.ts";
import { readJob, storedJob, unreadableJob } from "./job-document.ts";

/** A job as it was read or written last. */
export interface KeptJob {
  readonly job: Job;
  readonly revision: number;
  /** False: it is shown, and nobody here touches it. */
  readonly isReadable: boolean;
  /** Nobody can go on with it: it is no newer release's, either. */
  readonly isDamaged: boolean;
}

/** So many are read at most: those that are active, and those that are kept, sound and damaged. */
export const MAX_JOBS = 500;
/** Writers of one job are its owner, once a second, and operators. */
const MAX_CONFLICTS = 20;
/** In a store that takes as long to answer as its owner pauses between two writes, nobody else comes to write it. */
const PATIENCE_MS = 10_000;

/** Jobs in their store, by compare-and-set. Every call is bounded. */
export class JobBook {
  readonly #jobs: DlqJobs;
  readonly #clock: Clock;

  constructor(jobs: DlqJobs, clock: Clock) {
    this.#jobs = jobs;
    this.#clock = clock;
  }

  async get(id: string, signal: AbortSignal): Promise<KeptJob | undefined> {
    const stored = await this.#bounded(signal, (bounded) => this.#jobs.get(id, bounded));
    return stored && keptJob(stored);
  }

  /** Newest first. */
  async list(states: readonly JobState[] | undefined, signal: AbortSignal): Promise<readonly KeptJob[]> {
    const found = await this.#bounded(signal, (bounded) => this.#jobs.list({ states, limit: MAX_JOBS }, bounded));
    return found.map(keptJob);
  }

  /** False when there is one of this id. */
  add(job: Job, signal: AbortSignal): Promise<boolean> {
    return this.#bounded(signal, (bounded) => this.#jobs.put(storedJob(job, 1), undefined, bounded));
  }

  /** False when it has been written since. */
  replace({ revision }: Pick<KeptJob, "revision">, job: Job, signal: AbortSignal): Promise<boolean> {
    return this.#bounded(signal, (bounded) => this.#jobs.put(storedJob(job, revision + 1), revision, bounded));
  }

  delete(ids: readonly string[], signal: AbortSignal): Promise<void> {
    return this.#bounded(signal, (bounded) => this.#jobs.delete(ids, bounded));
  }

  /**
   * Writes what `change` makes of the job as it is; the same job: nothing is written.
   * @throws OperationError `not_found`, `conflict` when it cannot be read, `unavailable` when the store is too slow; what `change` throws
   */
  async change(id: string, change: (job: Job) => Job, signal: AbortSignal): Promise<Job> {
    const until = this.#clock.monotonic() + PATIENCE_MS;
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
      if (this.#clock.monotonic() > until)
        throw new OperationError(
          "unavailable",
          "the DLQ store is slow, and others have written the job each time: ask the instance that works on it, or try again",
        );
      const kept = await this.get(id, signal);
      if (kept === undefined) throw new OperationError("not_found", "job not found");
      const next = change(kept.job);
      if (next === kept.job) return next;
      if (!kept.isReadable) throw new OperationError("conflict", kept.job.reason);
      if (await this.replace(kept, next, signal)) return next;
    }
    throw new OperationError("conflict", "the job is being written by others all the time: try again");
  }

  #bounded<Result>(signal: AbortSignal, work: (bounded: AbortSignal) => Promise<Result>): Promise<Result> {
    return askStore({ clock: this.#clock, signal }, work);
  }
}

function keptJob(stored: StoredJob): KeptJob {
  const read = readJob(stored);
  const isReadable = typeof read === "object";
  return {
    job: isReadable ? read : unreadableJob(stored, read),
    revision: stored.revision,
    isReadable,
    isDamaged: read === "damaged",
  };
}
