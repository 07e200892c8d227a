import { BridgeError, type Clock } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import { BatchWork } from "./batch-work.ts";
import { ACTIVE_STATES, ENDED_STATES, isOver, type Job } from "./job.ts";
import { JobBook, type KeptJob } from "./job-book.ts";
import { JobHold } from "./job-hold.ts";
import { holdsJobs, type JobParts, type JobsStore } from "./job-parts.ts";
import { JobRun, type JobWork } from "./job-run.ts";
import { moved, obeyed } from "./job-state.ts";
import { isExpired } from "./plan-expiry.ts";
import { PurgeBatches } from "./purge-batches.ts";
import { RedriveWork } from "./redrive-work.ts";
import { UndoBatches } from "./undo-batches.ts";

/** How often jobs are looked for where there are no leases. */
const LOOK_MS = 2_000;
const SWEEP_MS = 60_000;
const KEPT_MS = 7 * 24 * 3_600_000;
const MAX_ENDED = 200;
/** More are never active, but for those that are planned at the same time. */
const LOOKED_AT = 64;
const TRASH_CAP = 1_000_000;
const COUNT_TIMEOUT_MS = 20_000;

/** Of an owner that is not heard of, its last sign of life and since when, in monotonic milliseconds. */
interface Silence {
  readonly beat: number;
  readonly since: number;
}

/** Looks for jobs that nobody works on, and works on those that it can. */
export class JobOwner {
  readonly #parts: JobParts;
  readonly #clock: Clock;
  readonly #runs = new Map<string, { readonly run: JobRun; readonly ended: Promise<void> }>();
  readonly #silent = new Map<string, Silence>();
  readonly #leaving = new AbortController();
  readonly #cut = new AbortController();
  #poked = new AbortController();
  #looking: Promise<void> | undefined;
  #sweptAt = -Infinity;
  #isFailing = false;

  constructor(parts: JobParts) {
    this.#parts = parts;
    this.#clock = parts.clock;
  }

  /** From now on jobs are worked on. Idempotent. */
  begin(): void {
    if (!this.#leaving.signal.aborted) this.#looking ??= this.#lookOn();
  }

  /** A job may have to be taken, or somebody asks something of this one. */
  poke(id?: string): void {
    if (id !== undefined) this.#runs.get(id)?.run.look();
    this.#poked.abort();
  }

  /** A job that is worked on here, as it stands, as long as its store does not take that; else as `kept`. */
  known(kept: KeptJob): Job {
    const { job } = kept;
    const hold = this.#runs.get(job.id)?.run.hold;
    hold?.heard(kept);
    const here = this.runOf(job.id);
    if (here === undefined || here.hold.isStored || job.owner?.holder !== this.#parts.holder) return job;
    const { settings, requested } = job;
    return { ...here.unstored, ...(!here.hold.isAsked && { settings, requested }) };
  }

  /** Who works on it here. */
  runOf(id: string): JobRun | undefined {
    const run = this.#runs.get(id)?.run;
    return run?.isHeld === true ? run : undefined;
  }

  /** Begins nothing more; resolves when every job is out of hand. What is under way ends by itself, or with {@link cut}. */
  async leave(): Promise<void> {
    this.#leaving.abort();
    this.#poked.abort();
    await this.#looking;
    await Promise.all([...this.#runs.values()].map(({ ended }) => ended));
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
      await this.#clock.delay(this.#untilLookMs, this.#poked.signal).catch(() => {});
    }
  }

  /** Jobs are looked for again by then, or as soon as one of them has been silent for long enough. */
  get #untilLookMs(): number {
    const { stores, bridge } = this.#parts.config();
    const lookMs = stores.lease === undefined ? LOOK_MS : Math.min(bridge.leasePollIntervalMs, LOOK_MS * 5);
    const [ttlMs, now] = [this.#ttlMs() ?? 0, this.#clock.monotonic()];
    const dueMs = [...this.#silent.values()].map(({ since }) => since + ttlMs - now).filter((ms) => ms > 0);
    return Math.min(lookMs, ...dueMs);
  }

  /** How long a silent owner is believed to live; `undefined` in a store of this process alone. */
  #ttlMs(): number | undefined {
    const { stores, bridge } = this.#parts.config();
    return stores.dlq?.reach === "cluster" ? bridge.leaseTtlMs : undefined;
  }

  async #look(): Promise<void> {
    const store = this.#parts.store();
    if (store === undefined || !holdsJobs(store)) return;
    const { signal } = this.#leaving;
    const book = new JobBook(store.jobs, this.#clock);
    const all = await book.list(ACTIVE_STATES, LOOKED_AT, signal);
    this.#parts.tallies.seen(all.map(({ job }) => job));
    const known = new Set(all.map(({ job }) => job.id));
    for (const id of this.#silent.keys()) if (!known.has(id)) this.#silent.delete(id);
    // Oldest first: who came first is served first.
    for (const kept of all.toReversed()) {
      if (signal.aborted) return;
      if (kept.isReadable && !this.#runs.has(kept.job.id)) await this.#consider(kept, book, store);
    }
    if (this.#clock.monotonic() - this.#sweptAt >= SWEEP_MS) await this.#sweep(book, store);
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
    if (!this.#isFree(job)) return;
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
    this.#silent.delete(job.id);
    tallies.adoptions++;
    tallies.add(job.kind, "in_doubt", job.counts.inDoubt - before.counts.inDoubt);
    logger.warn("a job was taken over from an owner that is not heard of any more", {
      job_id: job.id,
      former_owner: before.owner?.instanceId,
    });
    tell({ kind: "adopted", job });
  }

  /** Nobody works on it, or whoever did is not heard of any more. */
  #isFree({ id, owner }: Job): boolean {
    const ttlMs = this.#ttlMs();
    if (owner === undefined || owner.holder === this.#parts.holder || ttlMs === undefined) return true;
    const now = this.#clock.monotonic();
    const { beat } = owner;
    const silent = this.#silent.get(id);
    if (silent?.beat === beat) return now - silent.since >= ttlMs;
    this.#silent.set(id, { beat, since: now });
    return false;
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
    if (!(await book.replace(kept, job, this.#leaving.signal))) return;
    this.#silent.delete(job.id);
    this.#adopted(kept.job, job);
    const written = { job, revision: kept.revision + 1, isReadable: true };
    const hold = new JobHold({ book, kept: written, holder, clock: this.#clock, ttlMs: () => this.#ttlMs() });
    const work = (run: JobRun) => workOf(run, job);
    const run = new JobRun({ parts: this.#parts, store, hold, work }, this.#leaving.signal, this.#cut.signal);
    const ended = run.run().finally(() => {
      this.#runs.delete(job.id);
      if (isOver(run.job.state) && !hold.isLost) this.#told(run.job);
      this.#poked.abort();
    });
    this.#runs.set(job.id, { run, ended });
  }

  #told(job: Job): void {
    this.#parts.tell({ kind: "ended", job });
  }

  /** What has been over for long is forgotten. */
  async #sweep(book: JobBook, store: JobsStore): Promise<void> {
    const { signal } = this.#leaving;
    this.#sweptAt = this.#clock.monotonic();
    const ended = await book.list(ENDED_STATES, MAX_ENDED * 2, signal);
    const oldest = this.#clock.now() - KEPT_MS;
    const gone = ended.filter(({ job }, nth) => nth >= MAX_ENDED || (job.endedAt ?? job.createdAt) < oldest);
    const ids = gone.filter(({ isReadable }) => isReadable).map(({ job }) => job.id);
    if (ids.length > 0) await book.delete(ids, signal);
    this.#parts.tallies.trashEntries = await this.#trashed(store);
  }

  /** A store that never answers would keep this instance from every job. */
  async #trashed({ admin: { trash } }: JobsStore): Promise<number | undefined> {
    if (trash === undefined) return undefined;
    using limit = deadline(
      this.#clock,
      COUNT_TIMEOUT_MS,
      () => new BridgeError("TIMEOUT", "the DLQ store did not answer"),
    );
    const bounded = AbortSignal.any([this.#leaving.signal, limit.signal]);
    return await orAborted(trash.count(TRASH_CAP, bounded), bounded);
  }
}

function workOf(run: JobRun, { kind, state }: Job): JobWork {
  if (kind === "redrive") return new RedriveWork(run);
  const Kind = state === "undoing" ? UndoBatches : PurgeBatches;
  return new BatchWork(run, (calls) => new Kind(run, calls));
}

/** Its owner is gone, and has moved what it may not have counted: whoever follows has to count that before the job can stand still. */
function mayHaveMoved({ kind, owner, undoUntil }: Job): boolean {
  return kind === "purge" && owner !== undefined && undoUntil !== undefined;
}

/** It is to stand still, or does, and an owner is gone: what that has done last has to be counted before. */
function isToBeCounted({ state, owner, requested }: Job, { uncounted }: Pick<Job, "uncounted">): boolean {
  return uncounted === true && (requested !== undefined || (owner !== undefined && state === "halted"));
}

/** As many may have been in flight as there might: what was delivered last and not deleted yet may be sent again. */
function inDoubt(job: Job): Job {
  // What a purge has moved is in its batch of the trash.
  const isTold = job.kind === "purge" && job.undoUntil !== undefined;
  if (job.kind === "purge") return { ...job, inFlight: 0, ...(!isTold && { uncounted: true as const }) };
  const { counts, total, settings, mostInFlight } = job;
  const remaining = Math.max(0, total - counts.succeeded - counts.failed - counts.skipped);
  const more = Math.min(Math.max(settings.concurrency, mostInFlight), remaining);
  return { ...job, inFlight: 0, uncounted: true, counts: { ...counts, inDoubt: counts.inDoubt + more } };
}
