import { BridgeError, type DeadLetterHead, type TakenBack } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import { doneOf, type Job } from "./job.ts";
import type { JobRun, JobWork } from "./job-run.ts";
import { isBehind, positionOf } from "./lane-reader.ts";
import { setQuery } from "./set-query.ts";

const PAGE = { limit: 500, budget: 10_000 } as const;
const RESTORED_AT_ONCE = 500;
const NONE: TakenBack = { restored: 0, present: 0 };
const CALL_TIMEOUT_MS = 20_000;
/** An index may lag: what it does not show of the trash is looked for so often, a second after the other, and once when all is back. */
const RESTORE_LOOKS = 10;
/** Settings and requests are looked at so often while it waits for its rate. */
const LOOK_MS = 1_000;

/** Purges the entries of a job, oldest first, into the trash as long as they can be taken back; and takes them back. */
export class PurgeWork implements JobWork {
  readonly #run: JobRun;
  #woken = new AbortController();
  #isUnderWay = false;
  /** Looks into the trash, one after another, that have found nothing. */
  #emptyLooks = 0;

  constructor(run: JobRun) {
    this.#run = run;
  }

  async work(): Promise<void> {
    for (;;) {
      this.#run.obey();
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
      } catch (thrown) {
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
    const limit = Math.max(1, Math.min(PAGE.limit, Math.floor(job.settings.rate)));
    const page = await this.#bounded((signal) =>
      store.page(setQuery(job), { ...PAGE, limit, order: "oldest", after: job.cursor }, signal),
    );
    const { until } = job;
    const heads = until === undefined ? page.entries : page.entries.filter((head) => !isBehind(head, until));
    const gone = heads.length === 0 ? 0 : await this.#remove(heads.map(({ id }) => id));
    this.#count(heads, gone);
    const last = page.next ?? heads.at(-1);
    if (last !== undefined) this.#run.job = { ...this.#run.job, cursor: positionOf(last) };
    if (page.next !== undefined && heads.length === page.entries.length) return heads.length;
    this.#run.complete();
    return undefined;
  }

  async #remove(ids: readonly string[]): Promise<number> {
    const { job, store, parts } = this.#run;
    const { trash } = store.admin;
    const { undoUntil } = job;
    if (undoUntil === undefined) return (await this.#bounded((signal) => store.admin.delete(ids, signal))).size;
    if (trash === undefined) throw new BridgeError("UNAVAILABLE", "the DLQ store has no trash");
    // What is purged late is kept a little longer, so that an undo that is asked for in time finds all of it.
    const until = Math.max(undoUntil, parts.clock.now() + (job.undoWithinMs ?? 0));
    return (await this.#bounded((signal) => trash.move(ids, job.id, until, signal))).size;
  }

  /** One batch; how many entries it was, or `undefined` when none is left. */
  async #restore(): Promise<number | undefined> {
    const { job, store } = this.#run;
    const { restored, present } = await this.#bounded(
      async (signal) => (await store.admin.trash?.restore(job.id, RESTORED_AT_ONCE, signal)) ?? NONE,
    );
    const { counts } = this.#run.job;
    const back = { restored: counts.restored + restored, present: (counts.present ?? 0) + present };
    this.#run.job = { ...this.#run.job, counts: { ...counts, ...back } };
    this.#run.tally("restored", restored);
    this.#run.tally("present", present);
    this.#emptyLooks = restored + present > 0 ? 0 : this.#emptyLooks + 1;
    if (restored + present > 0) return 0;
    const isWhole = back.restored + back.present >= counts.succeeded + counts.skipped;
    if (this.#emptyLooks <= (isWhole ? 1 : RESTORE_LOOKS)) {
      await this.#pause(LOOK_MS);
      return 0;
    }
    this.#run.undone();
    return undefined;
  }

  #count(heads: readonly DeadLetterHead[], gone: number): void {
    const { job } = this.#run;
    const { counts } = job;
    const skipped = heads.length - gone;
    const byRoute = new Map<string, number>();
    for (const { routeId } of heads) byRoute.set(routeId, (byRoute.get(routeId) ?? 0) + 1);
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

  async #bounded<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const { parts, cut } = this.#run;
    using limit = deadline(
      parts.clock,
      CALL_TIMEOUT_MS,
      () => new BridgeError("TIMEOUT", "the DLQ store did not answer"),
    );
    const both = AbortSignal.any([cut, limit.signal]);
    return await orAborted(work(both), both);
  }
}
