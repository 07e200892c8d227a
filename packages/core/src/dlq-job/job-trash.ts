import type { BatchCalls } from "./batch-work.ts";
import type { JobRun } from "./job-run.ts";

/** How often the trash is asked how much it has of the job, when it does not answer: without that, less is known. */
const COUNT_TRIES = 3;

/** What a purge has moved into the trash of its store. */
export class JobTrash {
  readonly #run: JobRun;
  readonly #calls: BatchCalls;
  #countTries = 0;

  constructor(run: JobRun, calls: BatchCalls) {
    this.#run = run;
    this.#calls = calls;
  }

  /** How many entries of the job are in the trash; `undefined` when it does not tell, too often. */
  async count(cap: number): Promise<number | undefined> {
    const { job, store } = this.#run;
    try {
      const count = await this.#calls.bounded(async (signal) => store.admin.trash?.count(cap, signal, job.id));
      this.#countTries = 0;
      return count;
    } catch (thrown) {
      if (++this.#countTries < COUNT_TRIES) throw thrown;
      this.#countTries = 0;
      return undefined;
    }
  }

  /** So many at least are gone by this job, whatever it was told. */
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
