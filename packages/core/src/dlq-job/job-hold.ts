import { BridgeError, type Clock } from "@bridge/ports";
import { Serial } from "@bridge/ports/internal";
import type { Job } from "./job.ts";
import type { JobBook, KeptJob } from "./job-book.ts";

export interface JobHoldOptions {
  readonly book: JobBook;
  /** As the holder has just written it. */
  readonly kept: KeptJob;
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
  readonly #options: JobHoldOptions;
  readonly #writes = new Serial();
  #job: Job;
  #revision: number;
  /** Monotonic milliseconds: when the write began that was the last to succeed. */
  #confirmedAt: number;
  #failingSince: number | undefined;
  #failure: BridgeError | undefined;
  #isLost = false;

  constructor(options: JobHoldOptions) {
    this.#options = options;
    this.#job = options.kept.job;
    this.#revision = options.kept.revision;
    this.#confirmedAt = options.clock.monotonic();
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

  /** Whether nobody else can have taken it, and the last write of it succeeded. */
  get isSure(): boolean {
    return this.sureForMs > 0;
  }

  /** For how long that is so, unless it is written again: what may not be done twice has to be over, or given up, by then. */
  get sureForMs(): number {
    const { clock, ttlMs } = this.#options;
    if (this.#isLost || this.#failingSince !== undefined) return 0;
    const ttl = ttlMs();
    return ttl === undefined ? Number.POSITIVE_INFINITY : Math.max(0, this.#confirmedAt + ttl - clock.monotonic());
  }

  /** For how long it could not be written, in milliseconds; 0 when it can. */
  get failingMs(): number {
    return this.#failingSince === undefined ? 0 : this.#options.clock.monotonic() - this.#failingSince;
  }

  get failure(): BridgeError | undefined {
    return this.#failure;
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
        const known = (this.#job = current());
        const begunAt = clock.monotonic();
        const next = said(known);
        const job = this.#alive({ ...next, updatedAt: clock.now() });
        if (await book.replace({ revision: this.#revision }, job, signal)) {
          // While it was written, more may have come to be known.
          if (next !== known) this.#job = next;
          this.#revision++;
          this.#confirmedAt = begunAt;
          this.#failingSince = undefined;
          return true;
        }
        const kept = await book.get(job.id, signal);
        if (kept?.isReadable !== true || kept.job.owner?.holder !== holder) {
          this.#isLost = true;
          return false;
        }
        this.#revision = kept.revision;
        this.#job = { ...this.#job, settings: kept.job.settings, requested: kept.job.requested };
      }
    } catch (thrown) {
      if (signal.aborted) return false;
      this.#failure = BridgeError.from(thrown);
      this.#failingSince ??= clock.monotonic();
    }
    return false;
  }

  #alive({ owner, ...job }: Job): Job {
    return owner === undefined ? job : { ...job, owner: { ...owner, beat: this.#revision + 1 } };
  }
}
