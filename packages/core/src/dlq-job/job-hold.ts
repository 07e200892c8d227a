import type { Clock } from "@bridge/ports";
import { Serial } from "@bridge/ports/internal";
import type { Job, JobRequest } from "./job.ts";
import type { JobBook, KeptJob } from "./job-book.ts";
import { withSettings } from "./job-settings.ts";
import { type Answer, called } from "./job-state.ts";
import type { SettingsChange } from "./jobs.ts";
import { StoreWait } from "./store-wait.ts";

/** A write of the document that takes longer is waited for. */
const WRITE_MS = 500;

export interface JobHoldOptions {
  readonly book: JobBook;
  /** As the holder has just written it. */
  readonly kept: KeptJob;
  /** Monotonic milliseconds: when that write began, however late its answer was heard. */
  readonly takenAt: number;
  readonly holder: string;
  readonly clock: Clock;
  /** How long others wait for a sign of life; absent in a store that no other process can use. */
  readonly ttlMs: () => number | undefined;
}

/**
 * A job in the hands of its owner, who alone writes how far it is. Others write only settings and what they ask for, and are heard
 * when a write of the owner is refused.
 */
export class JobHold {
  /** For its document. */
  readonly wait: StoreWait;
  readonly #options: JobHoldOptions;
  readonly #writes = new Serial();
  #job: Job;
  #revision: number;
  /** Monotonic milliseconds: when the write began that was the last to succeed. */
  #confirmedAt: number;
  /** What was asked of it here and is not stored, and which settings were changed. */
  #asked: JobRequest | undefined;
  #changed: SettingsChange | undefined;
  #dropped: JobRequest | undefined;
  #isLost = false;

  constructor(options: JobHoldOptions) {
    this.#options = options;
    this.#job = options.kept.job;
    this.#revision = options.kept.revision;
    this.#confirmedAt = options.takenAt;
    this.wait = new StoreWait(options.clock);
  }

  get job(): Job {
    return this.#job;
  }

  set job(job: Job) {
    this.#job = job;
  }

  /** Somebody else has it, or it is gone: nothing more is to be done with it. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Whether something was asked of it here, or changed, that is not stored. */
  get isAsked(): boolean {
    return this.#asked !== undefined || this.#changed !== undefined;
  }

  /** What was asked of it here last and is not done, as others have asked for what leaves no room for it. */
  get dropped(): JobRequest | undefined {
    return this.#dropped;
  }

  /** It was read like this: it may be another's by now. */
  heard({ revision, job: { owner } }: KeptJob): void {
    if (revision > this.#revision && owner !== undefined && owner.holder !== this.#options.holder) this.#isLost = true;
  }

  /** Asks it here: whoever works on it obeys at once, and it is stored when that can be. */
  ask(request: JobRequest): Job | Answer {
    const next = called(this.#job, request, this.#options.clock.now());
    if (!("id" in next) || next === this.#job) return next;
    this.#asked = request;
    return (this.#job = next);
  }

  /** Changes its settings here, at once, and in its store when that can be. */
  change(change: SettingsChange): void {
    this.#changed = { ...this.#changed, ...change, halt: { ...this.#changed?.halt, ...change.halt } };
    this.#job = withSettings(this.#job, change);
  }

  /** Whether nobody else can have taken it, and its store takes how far it is: what is done without that, whoever follows does not know. */
  get isSure(): boolean {
    return this.isStored && this.sureForMs > 0;
  }

  /** Whether the last write of it succeeded, and none is being waited for. */
  get isStored(): boolean {
    return this.wait.failure === undefined && this.wait.ms <= WRITE_MS;
  }

  /** Whether its store is slow to take how far it is, and has refused nothing. */
  get isBeingStored(): boolean {
    return !this.isStored && this.sureForMs > 0;
  }

  /** Whether another instance that reaches the store may have taken it over: its last sign of life is too old. */
  get mayBeAnothers(): boolean {
    const ttl = this.#options.ttlMs();
    return this.#isLost || (ttl !== undefined && this.#options.clock.monotonic() >= this.#confirmedAt + ttl);
  }

  /** For how long nobody else can have taken it, unless it is written again: what may not be done twice has to be over, or given up, by then. */
  get sureForMs(): number {
    const { clock, ttlMs } = this.#options;
    if (this.#isLost || this.wait.failure !== undefined) return 0;
    const ttl = ttlMs();
    return ttl === undefined ? Number.POSITIVE_INFINITY : Math.max(0, this.#confirmedAt + ttl - clock.monotonic());
  }

  /**
   * Writes it as it is by then, with what `current` adds; true when it is written. Never rejects. What is written is of one moment: a
   * count that is newer than the cursor beside it would be counted again after a kill. `said` is what the document says of it: it is
   * asked again when somebody else has written in between, so that what was asked for last counts.
   */
  save(
    signal: AbortSignal,
    current: () => Job = () => this.#job,
    said: (job: Job) => Job = (job) => job,
  ): Promise<boolean> {
    return this.#writes.run(() => this.#save(signal, current, said));
  }

  async #save(signal: AbortSignal, current: () => Job, said: (job: Job) => Job): Promise<boolean> {
    const { book, holder, clock } = this.#options;
    try {
      while (!this.#isLost) {
        const [asked, changed] = [this.#asked, this.#changed];
        const known = (this.#job = current());
        const begunAt = clock.monotonic();
        const next = said(known);
        const job = this.#alive({ ...next, updatedAt: clock.now() });
        if (await this.wait.for(signal, () => book.replace({ revision: this.#revision }, job, signal))) {
          // While it was written, more may have come to be known.
          if (this.#asked === asked) this.#asked = undefined;
          if (this.#changed === changed) this.#changed = undefined;
          if (next !== known) this.#job = this.#withOwn(next);
          this.#revision++;
          this.#confirmedAt = begunAt;
          return true;
        }
        const kept = await this.wait.for(signal, () => book.get(job.id, signal));
        if (kept?.isReadable !== true || kept.job.owner?.holder !== holder) {
          this.#isLost = true;
          return false;
        }
        this.#revision = kept.revision;
        const heard = { ...this.#job, settings: kept.job.settings, requested: kept.job.requested };
        this.#job = this.#withOwn(heard);
      }
    } catch {
      // What waits for it says for how long.
    }
    return false;
  }

  /** What is not stored yet of what was asked and changed here comes after what others have; a request that has no room there is dropped. */
  #withOwn(others: Job): Job {
    const job = this.#changed === undefined ? others : withSettings(others, this.#changed);
    if (this.#asked === undefined) return job;
    const next = called(job, this.#asked, this.#options.clock.now());
    if ("id" in next) return next;
    this.#dropped = this.#asked;
    this.#asked = undefined;
    return job;
  }

  #alive({ owner, ...job }: Job): Job {
    return owner === undefined ? job : { ...job, owner: { ...owner, beat: this.#revision + 1 } };
  }
}
