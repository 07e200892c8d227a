import { BridgeError } from "@bridge/ports";
import { countGone } from "./count-gone.ts";
import type { HaltVerdict } from "./halt.ts";
import { doneOf, type Job, type JobRequest } from "./job.ts";
import type { JobHold } from "./job-hold.ts";
import { type Answer, moved, obeyed } from "./job-state.ts";
import type { JobParts, JobsStore } from "./job-parts.ts";
import type { JobOutcome } from "./job-tallies.ts";
import type { SettingsChange } from "./jobs.ts";
import { Pace } from "./pace.ts";
import { StoreWaits } from "./store-waits.ts";
import { type EntriesStore, watchedStore } from "./watched-store.ts";

/** The document is written so often: it is the sign of life, too. */
const BEAT_MS = 1_000;
const MAX_ERROR_LENGTH = 500;

/** What is done for a job while it runs. */
export interface JobWork {
  /** Works until nothing more may begin, or there is nothing to do here. */
  work(): Promise<void>;
  /** Resolves when what is under way has ended. */
  settled(): Promise<void>;
  /** The job with what only the work knows. */
  current(): Job;
  /** Something may be different: a request, a setting, the end. */
  wake(): void;
  /** Once a second. */
  beat?(): Promise<void>;
}

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
  /** What is said of the job is the last word. */
  #isLeft = false;
  /** It is out of hand. */
  #isOver = false;
  /** Why it has halted, which is told once it is stored. */
  #untold: HaltVerdict["why"] | undefined;

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
    return (
      (requested !== undefined || state === "halted") && this.isHeld && !this.#leaving.aborted && !this.cut.aborted
    );
  }

  /** Whether what is said of the job is heard: nobody else has it, and its store is the one in use. */
  get isHeld(): boolean {
    return !this.#isOver && !this.hold.isLost && this.parts.store() === this.#opened;
  }

  /** The job as it stands here, which its store does not take or tell. */
  get unstored(): Job {
    return { ...(this.#isLeft ? this.job : this.#current()), unstored: true };
  }

  /** Asks the job, whose store does not take that: it is obeyed at once, and stored when it can be. */
  ask(request: JobRequest): Job | Answer {
    const next = this.hold.ask(request);
    this.#work.wake();
    this.look();
    return "id" in next ? this.unstored : next;
  }

  /** Changes its settings, which its store does not take: at once here, and stored when that can be. */
  change(change: SettingsChange): Job {
    this.hold.change(change);
    this.#work.wake();
    this.look();
    return this.unstored;
  }

  /** Reads what somebody may have asked for. */
  look(): void {
    if (!this.#isLeft) void this.#save();
  }

  /** Never rejects. */
  async run(): Promise<void> {
    const end = new AbortController();
    const wake = (): void => this.#work.wake();
    this.#leaving.addEventListener("abort", wake, { signal: end.signal });
    const beats = this.#beats(end.signal);
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
      await this.#lastWords();
    }
  }

  /** Once a second, whatever the work waits for. */
  #haltIfStoreIsAway(): void {
    const error = this.waits.haltError;
    const { step } = this.job;
    if (error !== undefined) this.halt({ why: "store", failed: step.failed, attempts: step.done }, error);
  }

  /** The job as it stands, and why it does not go on. */
  #current(): Job {
    const job = this.#work.current();
    return isAtWork(job) ? { ...job, waitingFor: this.waits.why } : job;
  }

  halt(verdict: HaltVerdict, error: string | undefined): void {
    const { clock } = this.parts;
    // Whoever has asked it to stand still need not hear that it would have done so by itself.
    if (this.job.state !== "running" || this.job.requested !== undefined) return;
    const shown = error?.slice(0, MAX_ERROR_LENGTH);
    const halted = { at: clock.now(), ...verdict, ...(shown !== undefined && { error: shown }) };
    this.job = { ...moved(this.#work.current(), "halted", clock.now()), halted };
    // While its store is away it may have gone on elsewhere.
    if (this.hold.isStored) this.#tellHalted(verdict.why);
    else this.#untold = verdict.why;
    void this.#save();
    this.#work.wake();
  }

  #tellHalted(why: HaltVerdict["why"]): void {
    this.#untold = undefined;
    this.parts.tallies.halted(why);
    this.parts.tell({ kind: "halted", job: this.job });
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
    await this.#save();
  }

  /** Stores how many entries an undo has to bring back, before it brings back any. Rejects, and forgets it, when that is not stored. */
  async storeToRestore(toRestore: number): Promise<void> {
    this.job = { ...this.job, toRestore };
    if (await this.hold.save(this.cut)) return;
    this.job = { ...this.job, toRestore: undefined };
    throw new BridgeError("UNAVAILABLE", "the job cannot be stored", { charged: false });
  }

  tally(outcome: JobOutcome, count: number): void {
    if (count > 0) this.parts.tallies.add(this.job.kind, outcome, count);
  }

  async #beats(signal: AbortSignal): Promise<void> {
    const { clock } = this.parts;
    // What takes long keeps the sign of life from nobody.
    let beating: Promise<void> | undefined;
    let saving: Promise<void> | undefined;
    for (;;) {
      await clock.delay(BEAT_MS, signal).catch(() => {});
      if (signal.aborted) break;
      const pace = this.#pace.at(clock.monotonic(), doneOf(this.job.counts));
      this.job = { ...this.#current(), pace };
      beating ??= this.#work.beat?.().finally(() => (beating = undefined));
      saving ??= this.#save().finally(() => (saving = undefined));
      this.#haltIfStoreIsAway();
    }
    await Promise.all([beating, saving]);
  }

  async #save(): Promise<void> {
    this.job = this.#current();
    await this.hold.save(this.cut, () => this.#current());
    this.#work.wake();
  }

  /** Whoever goes on with it by itself counts in the end what is missing; whoever looks at it as it stands still is to see that. */
  async #countGone(): Promise<void> {
    const { state, requested } = this.job;
    if (requested === undefined && state !== "halted" && state !== "waiting") return;
    // With what the work alone knows: a failure that is counted and not passed would be counted as left, too.
    this.job = this.#work.current();
    await countGone(this);
  }

  /** Gives the job out of hand, as it is then; what was asked for is carried out with that. */
  async #lastWords(): Promise<void> {
    const { clock } = this.parts;
    this.#isLeft = true;
    this.job = { ...this.#work.current(), inFlight: 0, pace: 0 };
    const last = (known: Job): Job => {
      const { owner: _, ...job } = isAtWork(known) ? { ...known, waitingFor: undefined } : known;
      return job.requested === undefined ? job : obeyed(job, job.requested, clock.now());
    };
    while (!this.hold.isLost) {
      const isSaid = await this.hold.save(new AbortController().signal, undefined, last);
      if (isSaid && this.#untold !== undefined) this.#tellHalted(this.#untold);
      if (isSaid && !this.hold.isAsked) break;
      // What nobody knows of it would be counted as gone: it is said until the store takes it.
      if (this.cut.aborted || this.parts.store() !== this.#opened) break;
      await clock.delay(BEAT_MS, this.cut).catch(() => {});
    }
    this.#isOver = true;
  }
}

function isAtWork({ state }: Job): boolean {
  return state === "running" || state === "undoing";
}

/** All is done: what was never met was gone by then. What was not counted exactly is as much as was met. */
function withMissing(job: Job): Job {
  const { exact } = job.plan;
  const missing = exact ? Math.max(0, job.total - doneOf(job.counts)) : 0;
  const counts = { ...job.counts, skipped: job.counts.skipped + missing };
  const lanes = job.lanes.map((lane) => {
    const all = exact ? Math.max(lane.total, lane.done) : lane.done;
    return { ...lane, total: all, done: all, ended: true };
  });
  return { ...job, counts, total: doneOf(counts), lanes };
}
