import { RateLimiter } from "../control/rate-limiter.ts";
import { EntryCarrier } from "./entry-carrier.ts";
import { EntryEnds } from "./entry-ends.ts";
import { FailedAhead } from "./failed-ahead.ts";
import { afterStep } from "./halt.ts";
import { doneOf, type Job } from "./job.ts";
import type { JobRun } from "./job-run.ts";
import type { JobWork } from "./job-work.ts";
import type { Lane } from "./lane.ts";
import { Lanes } from "./lanes.ts";
import { PendingEntries } from "./pending-entries.ts";
import { isSettled, mayBegin, nextStep } from "./ramp.ts";
import { RedriveBook } from "./redrive-book.ts";

/** When nothing tells that something has changed, it is looked again. */
const LOOK_MS = 250;
/** Failed entries that a cursor has not passed; further ones wait. */
const MAX_AHEAD = 64;

/** Redrives the entries of a job: a lane for each route, in steps, at a rate. */
export class RedriveWork implements JobWork {
  readonly #run: JobRun;
  readonly #rate: RateLimiter;
  readonly #lanes: Lanes;
  readonly #failedAhead: FailedAhead;
  readonly #pending: PendingEntries;
  readonly #carrier: EntryCarrier;
  readonly #ends: EntryEnds;
  readonly #underWay = new Set<Promise<void>>();
  #changed = Promise.withResolvers<void>();
  /** Ends a wait for the rate when nothing may begin any more. */
  #interrupt = new AbortController();
  /** Monotonic milliseconds: when the next step begins; 0 while none is over. */
  #stepAt = 0;

  constructor(run: JobRun) {
    const { job, parts } = run;
    this.#run = run;
    this.#rate = new RateLimiter(parts.clock, limitOf(job));
    const book = new RedriveBook(run);
    const failed = (this.#failedAhead = new FailedAhead(job.ahead));
    this.#lanes = new Lanes(run);
    const pending = (this.#pending = new PendingEntries({ run, book, failed, lanes: this.#lanes.all }));
    this.#carrier = new EntryCarrier(run, pending);
    this.#ends = new EntryEnds({ run, book, failed, pending });
  }

  async work(): Promise<void> {
    for (;;) {
      if (!this.#run.goesOn) return;
      this.#rate.limit = limitOf(this.#run.job);
      this.#endStep();
      for (const lane of this.#lanes.all) this.#fill(lane);
      const lane = this.#laneToTake();
      if (lane === undefined) {
        if (this.#underWay.size === 0 && this.#isFinished()) return;
        await this.#change();
      } else if (await this.#turn()) {
        if (this.#run.goesOn && lane.mayTake) this.#begin(lane);
      }
    }
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#underWay, this.#pending.settle()]);
    await this.#ends.deleteDelivered();
  }

  wake(): void {
    if (!this.#run.goesOn || this.#run.job.requested !== undefined) this.#interrupt.abort();
    this.#rate.limit = limitOf(this.#run.job);
    this.#changed.resolve();
  }

  current(): Job {
    const { job } = this.#run;
    // All has been said of it.
    if (job.state === "completed") return job;
    return {
      ...job,
      lanes: this.#lanes.statesIn(job),
      total: Math.max(job.total, doneOf(job.counts)),
      ahead: this.#failedAhead.ids,
      inFlight: this.#underWay.size,
      // Whoever follows a dead owner sends what is delivered and not deleted again, too.
      mostInFlight: Math.max(job.settings.concurrency, this.#underWay.size) + this.#ends.undeleted,
    };
  }

  beat(): Promise<void> {
    return this.#pending.look();
  }

  /** At the end of a step: whether to halt; then the pause, then the next one. */
  #endStep(): void {
    const { settings, step, errors } = this.#run.job;
    if (!isSettled(settings.ramp, step)) {
      this.#stepAt = 0;
      return;
    }
    const now = this.#run.parts.clock.monotonic();
    if (this.#stepAt === 0) {
      const verdict = afterStep(step, settings.halt);
      if (verdict !== undefined) return this.#run.halt(verdict, errors.at(-1)?.error);
      this.#stepAt = now + settings.rampPauseMs;
    }
    if (now < this.#stepAt) return;
    this.#stepAt = 0;
    this.#run.job = { ...this.#run.job, step: nextStep(step) };
    void this.#run.checkpoint();
  }

  #fill(lane: Lane): void {
    if (lane.rests) return;
    lane.reader.fill(this.#run.cut)?.then(
      () => this.#changed.resolve(),
      () => lane.rest("the DLQ store could not be read"),
    );
  }

  /** One from which an entry may be taken now. */
  #laneToTake(): Lane | undefined {
    const { settings, step } = this.#run.job;
    const inFlight = this.#underWay.size;
    if (!this.#run.hold.isSure || inFlight >= settings.concurrency) return undefined;
    if (!mayBegin(settings.ramp, step, inFlight + this.#pending.untold)) return undefined;
    if (this.#pending.isFull || this.#failedAhead.size >= MAX_AHEAD) return undefined;
    return this.#lanes.toTake(settings.concurrency);
  }

  /** Whether there is nothing more to do here: everything is done, or every lane waits. */
  #isFinished(): boolean {
    if (this.#lanes.open.length === 0) {
      if (this.#run.job.pending.length > 0 || this.#lanes.lookForRest()) return false;
      this.#run.complete();
      return true;
    }
    const why = this.#lanes.waitFor;
    if (why === undefined) return false;
    this.#run.wait(why);
    return true;
  }

  /** Waits for leave by the rate; false when something else came first. */
  async #turn(): Promise<boolean> {
    this.#interrupt = new AbortController();
    try {
      await this.#rate.take(this.#interrupt.signal);
      return true;
    } catch {
      return false;
    }
  }

  #begin(lane: Lane): void {
    const head = lane.reader.take();
    if (head === undefined) return;
    lane.inFlight++;
    const attempt = this.#carrier
      .carry(lane, head)
      .then((outcome) => this.#ends.ended(lane, head, outcome))
      .finally(() => {
        lane.inFlight--;
        this.#underWay.delete(attempt);
        this.#changed.resolve();
      });
    this.#underWay.add(attempt);
  }

  async #change(): Promise<void> {
    const changed = (this.#changed = Promise.withResolvers());
    const stop = new AbortController();
    const pause = this.#run.parts.clock.delay(LOOK_MS, stop.signal).catch(() => {});
    await Promise.race([changed.promise, pause]);
    stop.abort();
  }
}

function limitOf({ settings: { rate } }: Job): { readonly messagesPerSecond: number; readonly burst: number } {
  return { messagesPerSecond: rate, burst: 1 };
}
