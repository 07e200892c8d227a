import { BridgeError, type TakenBack } from "@bridge/ports";
import type { BatchCalls, Batches } from "./batch-work.ts";
import type { JobCounts } from "./job.ts";
import type { JobRun } from "./job-run.ts";
import { JobTrash } from "./job-trash.ts";

const NONE: TakenBack = { restored: 0, present: 0 };
/** An index may lag: what it does not show of the trash is looked for so often, a second after the other, and once when all is back. */
const RESTORE_LOOKS = 10;
/** Counting a batch that is read entry by entry may take long: so many show how an undo goes on. */
const COUNTED_LEFT = 20_000;
const COUNT_EACH_MS = 5_000;
const GONE = "not brought back, as they were not in the trash: delivered meanwhile, or erased at the end of their time";

/** Takes back what a purge has moved into the trash. */
export class UndoBatches implements Batches {
  readonly #run: JobRun;
  readonly #calls: BatchCalls;
  readonly #trash: JobTrash;
  /** An answer was lost, or the job had another owner: what has been done may be more than is counted. */
  #isUnsure = true;
  /** Monotonic milliseconds. */
  #countDueAt = 0;
  /** Looks into the trash, one after another, that have found nothing. */
  #emptyLooks = 0;

  constructor(run: JobRun, calls: BatchCalls) {
    this.#run = run;
    this.#calls = calls;
    this.#trash = new JobTrash(run, calls);
  }

  failed(): void {
    this.#isUnsure = true;
  }

  /** One batch; how many entries it was, or `undefined` when none is left. */
  async next(): Promise<number | undefined> {
    const { job, store } = this.#run;
    await this.#countBack();
    const { restored, present } = await this.#calls.bounded(
      async (signal) => (await store.admin.trash?.restore(job.id, this.#calls.atOnce, signal)) ?? NONE,
    );
    this.#back(restored, present);
    // What is out of the trash and not counted passes for restored, should this process be killed.
    if (present > 0) await this.#run.checkpoint();
    this.#emptyLooks = restored + present > 0 ? 0 : this.#emptyLooks + 1;
    if (restored + present > 0) return 0;
    const { counts } = this.#run.job;
    const isWhole = backOf(counts) >= counts.succeeded + counts.skipped;
    if (this.#emptyLooks <= (isWhole ? 1 : RESTORE_LOOKS)) {
      await this.#calls.pause();
      return 0;
    }
    this.#tellGone();
    this.#run.undone();
    return undefined;
  }

  /** What is not back is told: an undo that ends without it has not given back all. */
  #tellGone(): void {
    const { job, parts } = this.#run;
    const gone = job.counts.succeeded - backOf(job.counts);
    if (gone <= 0) return;
    const group = { fingerprint: "", code: "UNAVAILABLE", error: GONE, count: gone, ids: [] } as const;
    this.#run.job = { ...job, counts: { ...job.counts, gone }, errors: [...job.errors, group] };
    parts.logger.warn(GONE, { job_id: job.id, entries: gone });
  }

  /** Stores how many entries there are to bring back, before any is brought back. Rejects, and forgets it, when that is not stored. */
  async #storeToRestore(toRestore: number): Promise<void> {
    const run = this.#run;
    run.job = { ...run.job, toRestore };
    if (await run.hold.save(run.cut)) return;
    run.job = { ...run.job, toRestore: undefined };
    throw new BridgeError("UNAVAILABLE", "the job cannot be stored", { charged: false });
  }

  /**
   * What an undo has taken out of the trash without being told is not in the batch any more. That it counts as restored: nobody can tell
   * which of it was there again already. How much there was is stored before the first is taken out: after a kill it would pass for gone.
   */
  async #countBack(): Promise<void> {
    const { toRestore, counts } = this.#run.job;
    if (toRestore === undefined) {
      const back = backOf(counts);
      const left = (await this.#trash.count(Number.MAX_SAFE_INTEGER)) ?? counts.succeeded - back;
      this.#trash.countMoved(left + back);
      await this.#storeToRestore(left + back);
      this.#isUnsure = false;
      return;
    }
    const now = this.#run.parts.clock.monotonic();
    if (!this.#isUnsure || (now < this.#countDueAt && this.#emptyLooks === 0)) return;
    this.#countDueAt = now + COUNT_EACH_MS;
    const left = await this.#trash.count(COUNTED_LEFT);
    if (left === undefined || left >= COUNTED_LEFT) return;
    this.#back(Math.max(0, toRestore - left - backOf(counts)), 0);
  }

  #back(restored: number, present: number): void {
    const { job } = this.#run;
    const { counts } = job;
    const back = { restored: counts.restored + restored, present: (counts.present ?? 0) + present };
    this.#run.job = { ...job, counts: { ...counts, ...back } };
    this.#run.tally("restored", restored);
    this.#run.tally("present", present);
  }
}

/** What an undo has taken out of the trash. */
function backOf({ restored, present = 0 }: JobCounts): number {
  return restored + present;
}
