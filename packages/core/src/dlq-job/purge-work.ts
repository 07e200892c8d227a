import { BridgeError, type DeadLetterHead, type TakenBack } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import { AskedEntries } from "./asked-entries.ts";
import { doneOf, type Job, type JobCounts } from "./job.ts";
import type { JobRun, JobWork } from "./job-run.ts";
import { isBehind, positionOf } from "./lane-reader.ts";
import { setQuery } from "./set-query.ts";

const PAGE = { limit: 500, budget: 10_000 } as const;
const NONE: TakenBack = { restored: 0, present: 0 };
/** A store that does not answer in time is asked for less at once, down to so many. */
const LEAST_AT_ONCE = 10;
const CALL_TIMEOUT_MS = 20_000;
/** An index may lag: what it does not show of the trash is looked for so often, a second after the other, and once when all is back. */
const RESTORE_LOOKS = 10;
/** How often the trash is asked how much it has of the job, when it does not answer: without that, less is known. */
const COUNT_TRIES = 3;
/** Counting a batch that is read entry by entry may take long: so many show how an undo goes on. */
const COUNTED_LEFT = 20_000;
const COUNT_EACH_MS = 5_000;
const GONE = "not brought back, as they were not in the trash: delivered meanwhile, or erased at the end of their time";
/** Settings and requests are looked at so often while it waits for its rate. */
const LOOK_MS = 1_000;

/** Purges the entries of a job, oldest first, into the trash as long as they can be taken back; and takes them back. */
export class PurgeWork implements JobWork {
  readonly #run: JobRun;
  #woken = new AbortController();
  #isUnderWay = false;
  readonly #asked = new AskedEntries();
  #atOnce: number = PAGE.limit;
  /** Entries that a former owner moved and did not count, and that no page has shown since; `undefined` until the trash was asked. */
  #uncounted: number | undefined;
  /** An answer was lost, or the job had another owner: what has been done may be more than is counted. */
  #isUnsure = true;
  #countTries = 0;
  /** Monotonic milliseconds. */
  #countDueAt = 0;
  /** Looks into the trash, one after another, that have found nothing. */
  #emptyLooks = 0;

  constructor(run: JobRun) {
    this.#run = run;
  }

  async work(): Promise<void> {
    for (;;) {
      this.#run.haltIfNotWritable();
      if (!this.#run.goesOn) return;
      if (!this.#run.hold.isSure) {
        await this.#pause(LOOK_MS);
        continue;
      }
      const beganAt = this.#run.parts.clock.monotonic();
      this.#isUnderWay = true;
      let done: number | undefined;
      try {
        done = await (this.#run.job.state === "undoing" ? this.#restore() : this.#purge());
        this.#atOnce = Math.min(PAGE.limit, this.#atOnce * 2);
      } catch (thrown) {
        this.#isUnsure = true;
        this.#atOnce = Math.max(LEAST_AT_ONCE, Math.floor(this.#atOnce / 2));
        if (this.#run.cut.aborted) return;
        this.#run.parts.logger.warn("a purge could not go on: it is tried again", {
          job_id: this.#run.job.id,
          error: BridgeError.from(thrown).message,
        });
        await this.#pause(LOOK_MS);
        continue;
      } finally {
        this.#isUnderWay = false;
      }
      if (done === undefined) return;
      await this.#pace(beganAt, done);
    }
  }

  async settled(): Promise<void> {}

  current(): Job {
    const { job } = this.#run;
    return { ...job, total: Math.max(job.total, doneOf(job.counts)), inFlight: this.#isUnderWay ? 1 : 0 };
  }

  wake(): void {
    this.#woken.abort();
  }

  /** One page; how many entries it was, or `undefined` when it was the last. */
  async #purge(): Promise<number | undefined> {
    const { job, store } = this.#run;
    this.#uncounted ??= await this.#movedBefore();
    const limit = Math.max(1, Math.min(this.#atOnce, Math.floor(job.settings.rate)));
    const page = await this.#bounded((signal) =>
      store.page(setQuery(job), { ...PAGE, limit, order: "oldest", after: job.cursor }, signal),
    );
    const { until } = job;
    const within = until === undefined ? page.entries : page.entries.filter((head) => !isBehind(head, until));
    const isEnd = page.next === undefined || within.length < page.entries.length;
    this.#count(this.#asked.takeGone(within, isEnd ? undefined : page.next), []);
    const heads = within.slice(0, this.#room);
    const isWhole = heads.length === within.length;
    // One that is being redriven belongs to whoever does: taken back later, it would be there although it is delivered.
    const free = heads.filter(({ id }) => !this.#run.parts.busy.has(id));
    const again = this.#asked.add(free);
    const gone = free.length === 0 ? again : await this.#remove(free.map(({ id }) => id));
    // What an index still shows of an earlier call is gone by that one.
    const isMine = ({ id }: DeadLetterHead): boolean => gone.has(id) || again.has(id);
    this.#asked.answered(free);
    const others = heads.filter((head) => !isMine(head));
    this.#count(heads.filter(isMine), others);
    // An index may still show what a former owner has moved.
    this.#uncounted = Math.max(0, this.#uncounted - others.length);
    const last = isWhole ? (page.next ?? heads.at(-1)) : heads.at(-1);
    if (last !== undefined) this.#run.job = { ...this.#run.job, cursor: positionOf(last) };
    if (isWhole ? !isEnd : this.#room > 0) return heads.length;
    await this.#countMoved();
    this.#run.complete();
    return undefined;
  }

  async #remove(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const { job, store, parts, hold } = this.#run;
    // A store makes a call again whose answer was lost, also when the process stands still in between.
    const withinMs = hold.sureForMs;
    // The process may have stood still since it asked for the page, and another one have finished the job, or taken it back.
    if (withinMs <= 0) throw new BridgeError("UNAVAILABLE", "another instance may have the job", { charged: false });
    const { trash } = store.admin;
    const { undoUntil } = job;
    if (undoUntil === undefined) return this.#bounded((signal) => store.admin.delete(ids, signal), withinMs);
    if (trash === undefined) throw new BridgeError("UNAVAILABLE", "the DLQ store has no trash");
    // What is purged late is kept a little longer, so that an undo that is asked for in time finds all of it.
    const until = Math.max(undoUntil, parts.clock.now() + (job.undoWithinMs ?? 0));
    return this.#bounded((signal) => trash.move(ids, job.id, until, signal), withinMs);
  }

  /** Never more than the plan has shown: of clocks that differ, entries may join that failed after it. What was not counted is not bounded. */
  get #room(): number {
    const { plan, total, counts } = this.#run.job;
    return plan.exact ? Math.max(0, total - doneOf(counts) - (this.#uncounted ?? 0)) : Number.POSITIVE_INFINITY;
  }

  /** How many a former owner of the job had moved when it was killed or stood still, without storing that. */
  async #movedBefore(): Promise<number> {
    const { undoUntil, counts, plan, total } = this.#run.job;
    if (undoUntil === undefined || !plan.exact) return 0;
    return Math.max(0, ((await this.#trashed(total)) ?? 0) - counts.succeeded);
  }

  /** What this job has moved without being told, as its owner was killed or an answer lost, is in its batch of the trash. */
  async #countMoved(): Promise<void> {
    const { undoUntil, counts, total } = this.#run.job;
    const isWhole = counts.skipped === 0 && doneOf(counts) >= total;
    if (undoUntil !== undefined && !isWhole) this.#moved((await this.#trashed(Number.MAX_SAFE_INTEGER)) ?? 0);
  }

  /** So many at least are gone by this job, whatever it was told. */
  #moved(known: number): void {
    const { job } = this.#run;
    const { counts } = job;
    const more = known - counts.succeeded;
    if (more <= 0) return;
    const skipped = Math.max(0, counts.skipped - more);
    this.#run.job = { ...job, counts: { ...counts, succeeded: known, skipped } };
    this.#run.tally("succeeded", more);
  }

  /** How many entries of the job are in the trash; `undefined` when it does not tell, too often. */
  async #trashed(cap: number): Promise<number | undefined> {
    const { job, store } = this.#run;
    try {
      const count = await this.#bounded(async (signal) => store.admin.trash?.count(cap, signal, job.id));
      this.#countTries = 0;
      return count;
    } catch (thrown) {
      if (++this.#countTries < COUNT_TRIES) throw thrown;
      this.#countTries = 0;
      return undefined;
    }
  }

  /** One batch; how many entries it was, or `undefined` when none is left. */
  async #restore(): Promise<number | undefined> {
    const { job, store } = this.#run;
    await this.#countBack();
    const { restored, present } = await this.#bounded(
      async (signal) => (await store.admin.trash?.restore(job.id, this.#atOnce, signal)) ?? NONE,
    );
    this.#back(restored, present);
    this.#emptyLooks = restored + present > 0 ? 0 : this.#emptyLooks + 1;
    if (restored + present > 0) return 0;
    const { counts } = this.#run.job;
    const isWhole = backOf(counts) >= counts.succeeded + counts.skipped;
    if (this.#emptyLooks <= (isWhole ? 1 : RESTORE_LOOKS)) {
      await this.#pause(LOOK_MS);
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

  /**
   * What an undo has taken out of the trash without being told is not in the batch any more. That it counts as restored: nobody can tell
   * which of it was there again already. How much there was is stored before the first is taken out: after a kill it would pass for gone.
   */
  async #countBack(): Promise<void> {
    const { toRestore, counts } = this.#run.job;
    if (toRestore === undefined) {
      const back = backOf(counts);
      const left = (await this.#trashed(Number.MAX_SAFE_INTEGER)) ?? counts.succeeded - back;
      this.#moved(left + back);
      await this.#run.storeToRestore(left + back);
      this.#isUnsure = false;
      return;
    }
    const now = this.#run.parts.clock.monotonic();
    if (!this.#isUnsure || (now < this.#countDueAt && this.#emptyLooks === 0)) return;
    this.#countDueAt = now + COUNT_EACH_MS;
    const left = await this.#trashed(COUNTED_LEFT);
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

  #count(done: readonly DeadLetterHead[], others: readonly DeadLetterHead[]): void {
    const { job } = this.#run;
    const { counts } = job;
    const [gone, skipped] = [done.length, others.length];
    const byRoute = new Map<string, number>();
    for (const { routeId } of [...done, ...others]) byRoute.set(routeId, (byRoute.get(routeId) ?? 0) + 1);
    this.#run.job = {
      ...job,
      counts: { ...counts, succeeded: counts.succeeded + gone, skipped: counts.skipped + skipped },
      lanes: job.lanes.map((lane) => ({ ...lane, done: lane.done + (byRoute.get(lane.routeId) ?? 0) })),
    };
    this.#run.tally("succeeded", gone);
    this.#run.tally("skipped", skipped);
  }

  /** So that entries go at the rate, as it stands by then. */
  async #pace(beganAt: number, done: number): Promise<void> {
    const { clock } = this.#run.parts;
    for (;;) {
      const dueAt = beganAt + (done * 1_000) / this.#run.job.settings.rate;
      const waitMs = dueAt - clock.monotonic();
      if (waitMs <= 0 || !this.#run.goesOn || this.#run.job.requested !== undefined) break;
      await this.#pause(Math.min(LOOK_MS, waitMs));
    }
    // A store may answer within one turn, and others want to be served, too.
    await new Promise<void>((resolve) => clock.turn(resolve));
  }

  async #pause(ms: number): Promise<void> {
    this.#woken = new AbortController();
    await this.#run.parts.clock.delay(Math.max(1, Math.ceil(ms)), this.#woken.signal).catch(() => {});
  }

  async #bounded<Result>(
    work: (signal: AbortSignal) => Promise<Result>,
    withinMs: number = CALL_TIMEOUT_MS,
  ): Promise<Result> {
    const { parts, cut } = this.#run;
    using limit = deadline(
      parts.clock,
      Math.min(withinMs, CALL_TIMEOUT_MS),
      () => new BridgeError("TIMEOUT", "the DLQ store did not answer"),
    );
    const both = AbortSignal.any([cut, limit.signal]);
    return await orAborted(work(both), both);
  }
}

/** What an undo has taken out of the trash. */
function backOf({ restored, present = 0 }: JobCounts): number {
  return restored + present;
}
