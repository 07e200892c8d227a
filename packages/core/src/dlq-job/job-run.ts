import { beatUntil } from "./beat-until.ts";
import { countGone } from "./count-gone.ts";
import type { HaltVerdict } from "./halt.ts";
import { doneOf, type Job, type JobRequest } from "./job.ts";
import { JobHalts } from "./job-halts.ts";
import type { JobHold } from "./job-hold.ts";
import type { JobParts, JobsStore } from "./job-parts.ts";
import { type Answer, isAtWork, moved } from "./job-state.ts";
import type { JobOutcome } from "./job-tallies.ts";
import type { JobWork } from "./job-work.ts";
import type { SettingsChange } from "./jobs.ts";
import { sayLastWords } from "./last-words.ts";
import { withMissing } from "./missing-entries.ts";
import { Pace } from "./pace.ts";
import { StoreWaits } from "./store-waits.ts";
import { type EntriesStore, watchedStore } from "./watched-store.ts";

export interface JobRunOptions {
  readonly parts: JobParts;
  readonly store: JobsStore;
  readonly hold: JobHold;
  readonly work: (run: JobRun) => JobWork;
}

/** The owner of a job at work: until the job is over, stands still, cannot go on here, or somebody else has it. */
export class JobRun {
  readonly parts: JobParts;
  readonly store: EntriesStore;
  readonly hold: JobHold;
  readonly waits: StoreWaits;
  /** Aborts when what is under way is to end. */
  readonly cut: AbortSignal;
  readonly #opened: JobsStore;
  readonly #leaving: AbortSignal;
  readonly #work: JobWork;
  readonly #pace = new Pace();
  readonly #halts: JobHalts;
  /** What is said of the job is the last word. */
  #isLeft = false;
  /** It is out of hand. */
  #isOver = false;

  /** `leaving` aborts when nothing more is to begin, and `cut` when what is under way is to end, too. */
  constructor({ parts, store, hold, work }: JobRunOptions, leaving: AbortSignal, cut: AbortSignal) {
    this.parts = parts;
    this.hold = hold;
    this.waits = new StoreWaits(parts.clock, hold.wait);
    this.store = watchedStore(store, this.waits);
    this.#opened = store;
    this.cut = cut;
    this.#leaving = leaving;
    this.#work = work(this);
    this.#halts = new JobHalts(parts, hold);
  }

  get job(): Job {
    return this.hold.job;
  }

  set job(job: Job) {
    this.hold.job = job;
  }

  /**
   * Whether more may begin. What was asked for is carried out with the last words, when everything under way has ended: until then
   * the job keeps its routes, and nobody else sends what is in flight.
   */
  get goesOn(): boolean {
    const { job } = this.hold;
    return isAtWork(job) && job.requested === undefined && !this.#leaving.aborted && this.isHeld;
  }

  /** Whether it is to stand still, or does: what has been begun settles while the job is held and the process does not end. */
  get standsStill(): boolean {
    const { state, requested } = this.hold.job;
    const isEnding = this.#leaving.aborted || this.cut.aborted;
    return (requested !== undefined || state === "halted") && this.isHeld && !isEnding;
  }

  /** Whether what is said of the job is heard: nobody else has it, and its store is the one in use. */
  get isHeld(): boolean {
    return !this.#isOver && !this.hold.isLost && this.parts.store() === this.#opened;
  }

  /** The job as it stands here, which its store does not take or tell. */
  get unstored(): Job {
    return { ...(this.#isLeft ? this.job : this.#current()), unstored: true };
  }

  /** Asks the job, whose store does not take that: it is obeyed at once, and stored by the next {@link look} that can. */
  ask(request: JobRequest): Job | Answer {
    const next = this.hold.ask(request);
    this.#work.wake();
    return next;
  }

  /** Changes its settings, which its store does not take: at once here, and stored by the next {@link look} that can. */
  change(change: SettingsChange): void {
    this.hold.change(change);
    this.#work.wake();
  }

  /** Reads what somebody may have asked for; resolves when that is done, or given up. Never rejects. */
  async look(): Promise<void> {
    if (!this.#isLeft) await this.checkpoint();
  }

  /** Never rejects. */
  async run(): Promise<void> {
    const { clock } = this.parts;
    const end = new AbortController();
    this.#leaving.addEventListener("abort", () => this.#work.wake(), { signal: end.signal });
    const beats = beatUntil(end.signal, clock, {
      begin: () => (this.job = { ...this.#current(), pace: this.#pace.at(clock.monotonic(), doneOf(this.job.counts)) }),
      work: () => this.#work.beat?.(),
      save: () => this.checkpoint(),
      end: () => this.#haltIfStoreIsAway(),
    });
    try {
      await this.#work.work();
      await this.#work.settled();
      await this.#countGone();
    } catch (thrown) {
      this.parts.logger.error("a job has stopped working: it is taken up again", {
        job_id: this.job.id,
        error: thrown instanceof Error ? thrown.message : String(thrown),
      });
      await this.#work.settled();
    } finally {
      end.abort();
      await beats;
      this.#isLeft = true;
      this.job = { ...this.#work.current(), inFlight: 0, pace: 0 };
      await sayLastWords(
        this,
        () => this.parts.store() === this.#opened,
        () => this.#halts.stored(),
      );
      this.#isOver = true;
    }
  }

  /** The job as it stands, and why it does not go on. */
  #current(): Job {
    const job = this.#work.current();
    return isAtWork(job) ? { ...job, waitingFor: this.waits.why } : job;
  }

  halt(verdict: HaltVerdict, error: string | undefined): void {
    if (!this.#halts.halt(verdict, error, () => this.#work.current())) return;
    void this.checkpoint();
    this.#work.wake();
  }

  /** Once a second, whatever the work waits for. */
  #haltIfStoreIsAway(): void {
    const error = this.waits.haltError;
    const { step } = this.job;
    if (error !== undefined) this.halt({ why: "store", failed: step.failed, attempts: step.done }, error);
  }

  /** It cannot go on here; whoever can takes it. */
  wait(why: string): void {
    this.job = { ...moved(this.#work.current(), "waiting", this.parts.clock.now()), waitingFor: why };
  }

  complete(): void {
    const job = this.#work.current();
    const whole = withMissing(job);
    this.tally("skipped", whole.counts.skipped - job.counts.skipped);
    this.job = moved(whole, "completed", this.parts.clock.now());
  }

  undone(): void {
    this.job = moved(this.#work.current(), "undone", this.parts.clock.now());
  }

  /** A step is done, or so much that it should be known: resolves when that is stored, or was not. */
  async checkpoint(): Promise<void> {
    this.job = this.#current();
    await this.hold.save(this.cut, () => this.#current());
    this.#work.wake();
  }

  tally(outcome: JobOutcome, count: number): void {
    if (count > 0) this.parts.tallies.add(this.job.kind, outcome, count);
  }

  /** Whoever goes on with it by itself counts in the end what is missing; whoever looks at it as it stands still is to see that. */
  async #countGone(): Promise<void> {
    const { state, requested } = this.job;
    if (requested === undefined && state !== "halted" && state !== "waiting") return;
    // With what the work alone knows: a failure that is counted and not passed would be counted as left, too.
    this.job = this.#work.current();
    await countGone(this);
  }
}
