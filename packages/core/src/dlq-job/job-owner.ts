import { BridgeError, type Clock } from "@bridge/ports";
import { BatchWork } from "./batch-work.ts";
import { ACTIVE_STATES, isOver, type Job } from "./job.ts";
import { JobBook, type KeptJob } from "./job-book.ts";
import { JobHold } from "./job-hold.ts";
import { holdsJobs, type JobParts, type JobsStore } from "./job-parts.ts";
import { JobRun } from "./job-run.ts";
import { moved, obeyed } from "./job-state.ts";
import { JobSweep } from "./job-sweep.ts";
import { inDoubt, isToBeCounted, mayHaveMoved } from "./job-takeover.ts";
import type { JobWork } from "./job-work.ts";
import { JobsHere } from "./jobs-here.ts";
import { isExpired } from "./plan-expiry.ts";
import { PurgeBatches } from "./purge-batches.ts";
import { RedriveWork } from "./redrive-work.ts";
import { SilentOwners } from "./silent-owners.ts";
import { UndoBatches } from "./undo-batches.ts";

/** Looks for jobs that nobody works on, and works on those that it can. */
export class JobOwner {
  readonly here: JobsHere;
  readonly #parts: JobParts;
  readonly #clock: Clock;
  readonly #owners: SilentOwners;
  readonly #sweep: JobSweep;
  readonly #leaving = new AbortController();
  readonly #cut = new AbortController();
  #poked = new AbortController();
  #looking: Promise<void> | undefined;
  #isFailing = false;

  constructor(parts: JobParts) {
    this.#parts = parts;
    this.#clock = parts.clock;
    this.here = new JobsHere(parts.holder);
    this.#owners = new SilentOwners(parts);
    this.#sweep = new JobSweep(parts);
  }

  /** From now on jobs are worked on. Idempotent. */
  begin(): void {
    if (!this.#leaving.signal.aborted) this.#looking ??= this.#lookOn();
  }

  /** A job may have to be taken, or somebody asks something of this one. */
  poke(id?: string): void {
    if (id !== undefined) this.here.look(id);
    this.#poked.abort();
  }

  /** Begins nothing more; resolves when every job is out of hand. What is under way ends by itself, or with {@link cut}. */
  async leave(): Promise<void> {
    this.#leaving.abort();
    this.#poked.abort();
    await this.#looking;
    await this.here.ended();
  }

  cut(): void {
    this.#cut.abort();
  }

  async #lookOn(): Promise<void> {
    const { signal } = this.#leaving;
    while (!signal.aborted) {
      this.#poked = new AbortController();
      try {
        await this.#look();
        this.#isFailing = false;
      } catch (thrown) {
        // A store that is away is told of by others; that jobs stand still because of it, here and once.
        if (!this.#isFailing && !signal.aborted)
          this.#parts.logger.warn("the jobs of the DLQ could not be looked at", {
            error: BridgeError.from(thrown).message,
          });
        this.#isFailing = true;
      }
      if (signal.aborted) return;
      await this.#clock.delay(this.#owners.untilLookMs, this.#poked.signal).catch(() => {});
    }
  }

  async #look(): Promise<void> {
    const store = this.#parts.store();
    if (store === undefined || !holdsJobs(store)) return;
    const { signal } = this.#leaving;
    const book = new JobBook(store.jobs, this.#clock);
    const all = await book.list(ACTIVE_STATES, signal);
    this.#parts.tallies.seen(all.map(({ job }) => job));
    this.#owners.forgetOthersThan(all.map(({ job }) => job.id));
    // Oldest first: who came first is served first.
    for (const kept of all.toReversed()) {
      if (signal.aborted) return;
      if (kept.isReadable && !this.here.has(kept.job.id)) await this.#consider(kept, book, store);
    }
    await this.#sweep.inTime(book, store, signal);
  }

  async #consider(kept: KeptJob, book: JobBook, store: JobsStore): Promise<void> {
    const { job } = kept;
    const now = this.#clock.now();
    if (job.state === "planned") {
      if (!isExpired(job, now)) return;
      if (await book.replace(kept, moved(job, "expired", now), this.#leaving.signal))
        this.#told(moved(job, "expired", now));
      return;
    }
    if (!this.#owners.isFree(job)) return;
    const { owner, requested, ...free } = this.#isAnothers(job) ? inDoubt(job) : job;
    if (mayHaveMoved(job) || isToBeCounted(job, free))
      return this.#take(kept, { ...free, ...(requested !== undefined && { requested }) }, { book, store });
    const next = requested === undefined ? free : obeyed({ ...free, requested }, requested, now);
    const isAtWork = next.state === "running" || next.state === "waiting" || next.state === "undoing";
    const why = isAtWork ? this.#whyNotHere(next) : undefined;
    if (isAtWork && why === undefined) return this.#take(kept, next, { book, store });
    // Whoever looks at it is to see why it does not go on.
    const told =
      why !== undefined && next.state === "running" ? { ...moved(next, "waiting", now), waitingFor: why } : next;
    if (told === free && owner === undefined) return;
    if (!(await book.replace(kept, told, this.#leaving.signal))) return;
    this.#adopted(job, told);
    if (isOver(told.state)) this.#told(told);
  }

  #isAnothers({ owner }: Job): boolean {
    return owner !== undefined && owner.holder !== this.#parts.holder;
  }

  /** Tells, once it is written, that the job has been taken out of the hands of an owner that is gone. */
  #adopted(before: Job, job: Job): void {
    if (!this.#isAnothers(before)) return;
    const { tallies, tell, logger } = this.#parts;
    this.#owners.forget(job.id);
    tallies.adoptions++;
    tallies.add(job.kind, "in_doubt", job.counts.inDoubt - before.counts.inDoubt);
    logger.warn("a job was taken over from an owner that is not heard of any more", {
      job_id: job.id,
      former_owner: before.owner?.instanceId,
    });
    tell({ kind: "adopted", job });
  }

  /** Why no entry of it could be redriven here. */
  #whyNotHere({ kind, lanes }: Job): string | undefined {
    const open = kind === "purge" ? [] : lanes.filter(({ ended }) => !ended);
    let first: string | undefined;
    for (const { routeId } of open) {
      const standing = this.#parts.standing(routeId);
      if (standing.kind !== "waits") return undefined;
      first ??= standing.why;
    }
    return first;
  }

  async #take(
    kept: KeptJob,
    next: Job,
    { book, store }: { readonly book: JobBook; readonly store: JobsStore },
  ): Promise<void> {
    const { instanceId, holder } = this.#parts;
    const owner = { instanceId, holder, beat: kept.revision + 1 };
    const mine = { ...next, mostInFlight: next.settings.concurrency, owner };
    const job = mine.state === "waiting" ? moved(mine, "running", this.#clock.now()) : mine;
    const takenAt = this.#clock.monotonic();
    if (!(await book.replace(kept, job, this.#leaving.signal))) return;
    this.#owners.forget(job.id);
    this.#adopted(kept.job, job);
    const written = { job, revision: kept.revision + 1, isReadable: true, isDamaged: false };
    const clock = this.#clock;
    const hold = new JobHold({ book, kept: written, takenAt, holder, clock, ttlMs: () => this.#owners.ttlMs });
    const work = (run: JobRun) => workOf(run, job);
    const run = new JobRun({ parts: this.#parts, store, hold, work }, this.#leaving.signal, this.#cut.signal);
    const ended = run.run().finally(() => {
      this.here.remove(job.id);
      if (isOver(run.job.state) && !hold.isLost) this.#told(run.job);
      this.#poked.abort();
    });
    this.here.add(job.id, { run, ended });
  }

  #told(job: Job): void {
    this.#parts.tell({ kind: "ended", job });
  }
}

function workOf(run: JobRun, { kind, state }: Job): JobWork {
  if (kind === "redrive") return new RedriveWork(run);
  const Kind = state === "undoing" ? UndoBatches : PurgeBatches;
  return new BatchWork(run, (calls) => new Kind(run, calls));
}
