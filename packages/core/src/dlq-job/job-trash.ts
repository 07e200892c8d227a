import type { BatchCalls } from "./batch-work.ts";
import type { JobRun } from "./job-run.ts";

/** How often the trash is asked how much it has of the job, when it does not answer: without that, less is known. */
const COUNT_TRIES = 2;

/** What a purge has moved into the trash of its store. */
export class JobTrash {
  readonly #run: JobRun;
  readonly #calls: BatchCalls;
  #countTries = 0;

  constructor(run: JobRun, calls: BatchCalls) {
    this.#run = run;
    this.#calls = calls;
  }

  /** How many entries of the job are in the trash; `undefined` when there is none. */
  counted(cap: number, withinMs?: number): Promise<number | undefined> {
    const { job, store } = this.#run;
    return this.#calls.bounded(async (signal) => store.admin.trash?.count(cap, signal, job.id), withinMs);
  }

  /** How many they are; `undefined` when it does not tell, too often. */
  async count(cap: number): Promise<number | undefined> {
    try {
      const count = await this.counted(cap);
      this.#countTries = 0;
      return count;
    } catch (thrown) {
      if (++this.#countTries < COUNT_TRIES) throw thrown;
      this.#countTries = 0;
      return undefined;
    }
  }

  /** So many at least are gone by this job, and some of them may still have been to come: what was skipped was others. */
  countAhead(known: number): void {
    const { job } = this.#run;
    const { counts, plan, total, movedAhead = 0 } = job;
    const more = known - counts.succeeded;
    if (more <= 0) return;
    const skipped = plan.exact ? Math.min(counts.skipped, Math.max(0, total - known)) : counts.skipped;
    this.#run.job = { ...job, counts: { ...counts, succeeded: known, skipped }, movedAhead: movedAhead + more };
    this.#run.tally("succeeded", more);
  }

  /** All has been met. So many at least are gone by this job, whatever it was told. */
  countMoved(known: number): void {
    const { job } = this.#run;
    const { counts } = job;
    const more = known - counts.succeeded;
    if (more <= 0) return;
    const skipped = Math.max(0, counts.skipped - more);
    this.#run.job = { ...job, counts: { ...counts, succeeded: known, skipped } };
    this.#run.tally("succeeded", more);
  }
}
