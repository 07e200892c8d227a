import { BridgeError } from "@bridge/ports";
import { askStore } from "../dlq/ensure-marked.ts";
import { doneOf, type Job } from "./job.ts";
import type { JobRun } from "./job-run.ts";
import type { JobWork } from "./job-work.ts";

const MOST_AT_ONCE = 500;
/** A store that does not answer in time is asked for less at once, down to so many. */
const LEAST_AT_ONCE = 10;
/** By this factor: it has been asked for the least before the job halts, in whose time it has three calls. */
const LESS = 8;
const CALL_TIMEOUT_MS = 20_000;
/** Settings and requests are looked at so often while it waits for its rate. */
const LOOK_MS = 1_000;
/** A store may take so long to tell what was done: no pause and no cancel waits for longer. */
const SETTLE_MS = 20_000;

/** What is done batch by batch. */
export interface Batches {
  /** One batch: how many entries of the rate it was, or `undefined` when it was the last. */
  next(): Promise<number | undefined>;
  /** A call has failed: what was asked for may have been done all the same. */
  failed?(): void;
  /** The job goes out of hand: what is done and not counted is counted, by calls that take no longer than `withinMs`. */
  settled?(withinMs: number): Promise<void>;
}

/** A store, as it is asked for a batch. */
export interface BatchCalls {
  /** Entries of one call. */
  readonly atOnce: number;
  /** Makes a call, which fails when it takes longer than `withinMs` (20 s at most, the default). */
  bounded<Result>(work: (signal: AbortSignal) => Promise<Result>, withinMs?: number): Promise<Result>;
  /** Waits until the store may know more. */
  pause(): Promise<void>;
}

/** Works through the entries of a job batch by batch, at its rate. */
export class BatchWork implements JobWork, BatchCalls {
  readonly #run: JobRun;
  readonly #batches: Batches;
  #woken = new AbortController();
  #isUnderWay = false;
  #atOnce = MOST_AT_ONCE;

  constructor(run: JobRun, batches: (calls: BatchCalls) => Batches) {
    this.#run = run;
    this.#batches = batches(this);
  }

  get atOnce(): number {
    return this.#atOnce;
  }

  async work(): Promise<void> {
    for (;;) {
      if (!this.#run.goesOn) return;
      if (!this.#run.hold.isSure) {
        await this.pause();
        continue;
      }
      const beganAt = this.#run.parts.clock.monotonic();
      this.#isUnderWay = true;
      let done: number | undefined;
      try {
        done = await this.#batches.next();
        this.#run.waits.writes.took();
        this.#atOnce = Math.min(MOST_AT_ONCE, this.#atOnce * 2);
      } catch (thrown) {
        this.#batches.failed?.();
        // A store that is asked for too much at once takes less.
        this.#atOnce = Math.max(LEAST_AT_ONCE, Math.floor(this.#atOnce / LESS));
        if (this.#run.cut.aborted) return;
        this.#run.parts.logger.warn("a purge could not go on: it is tried again", {
          job_id: this.#run.job.id,
          error: BridgeError.from(thrown).message,
        });
        await this.pause();
        continue;
      } finally {
        this.#isUnderWay = false;
      }
      if (done === undefined) return;
      await this.#pace(beganAt, done);
    }
  }

  async settled(): Promise<void> {
    const { clock, logger } = this.#run.parts;
    const end = clock.monotonic() + SETTLE_MS;
    for (let leftMs = SETTLE_MS; this.#run.isHeld && !this.#run.cut.aborted; leftMs = end - clock.monotonic()) {
      if (leftMs <= 0) {
        logger.warn("a purge may have moved more than it has counted: the DLQ store does not tell", {
          job_id: this.#run.job.id,
        });
        return;
      }
      try {
        return await this.#batches.settled?.(leftMs);
      } catch {
        await this.pause();
      }
    }
  }

  current(): Job {
    const { job } = this.#run;
    return { ...job, total: Math.max(job.total, doneOf(job.counts)), inFlight: this.#isUnderWay ? 1 : 0 };
  }

  wake(): void {
    this.#woken.abort();
  }

  /** So that entries go at the rate, as it stands by then. */
  async #pace(beganAt: number, done: number): Promise<void> {
    const { clock } = this.#run.parts;
    for (;;) {
      const dueAt = beganAt + (done * 1_000) / this.#run.job.settings.rate;
      const waitMs = dueAt - clock.monotonic();
      if (waitMs <= 0 || !this.#run.goesOn || this.#run.job.requested !== undefined) break;
      await this.pause(Math.min(LOOK_MS, waitMs));
    }
    // A store may answer within one turn, and others want to be served, too.
    await new Promise<void>((resolve) => clock.turn(resolve));
  }

  async pause(ms = LOOK_MS): Promise<void> {
    this.#woken = new AbortController();
    await this.#run.parts.clock.delay(Math.max(1, Math.ceil(ms)), this.#woken.signal).catch(() => {});
  }

  bounded<Result>(work: (signal: AbortSignal) => Promise<Result>, withinMs: number = CALL_TIMEOUT_MS): Promise<Result> {
    const { parts, cut } = this.#run;
    return askStore({ clock: parts.clock, signal: cut }, work, Math.min(withinMs, CALL_TIMEOUT_MS));
  }
}
