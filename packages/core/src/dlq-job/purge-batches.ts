import { BridgeError, type DeadLetterHead } from "@bridge/ports";
import { AskedEntries } from "./asked-entries.ts";
import type { BatchCalls, Batches } from "./batch-work.ts";
import { doneOf } from "./job.ts";
import type { JobRun } from "./job-run.ts";
import { JobTrash } from "./job-trash.ts";
import { isBehind, positionOf } from "./lane-reader.ts";
import { isPlanned } from "./planned-entry.ts";
import { setQuery } from "./set-query.ts";

const SCAN_BUDGET = 10_000;

/** Purges the entries of a job, oldest first, into the trash as long as they can be taken back. */
export class PurgeBatches implements Batches {
  readonly #run: JobRun;
  readonly #calls: BatchCalls;
  readonly #trash: JobTrash;
  readonly #asked = new AskedEntries();
  /** Whether what a former owner has moved without storing that, as it was killed or stood still, is counted. */
  #isCounted = false;

  constructor(run: JobRun, calls: BatchCalls) {
    this.#run = run;
    this.#calls = calls;
    this.#trash = new JobTrash(run, calls);
  }

  /** One page; how many entries it was, or `undefined` when it was the last. */
  async next(): Promise<number | undefined> {
    // Without it nobody knows how many more the plan allows.
    if (!this.#isCounted && this.#run.job.plan.exact && this.#run.job.undoUntil !== undefined)
      this.#countAhead(await this.#trash.count(this.#cap));
    const { job, store } = this.#run;
    const limit = Math.max(1, Math.min(this.#calls.atOnce, Math.floor(job.settings.rate)));
    const page = await this.#calls.bounded((signal) =>
      store.page(setQuery(job), { budget: SCAN_BUDGET, limit, order: "oldest", after: job.cursor }, signal),
    );
    const { until } = job;
    const within = until === undefined ? page.entries : page.entries.filter((head) => !isBehind(head, until));
    const isEnd = page.next === undefined || within.length < page.entries.length;
    this.#count(this.#asked.takeGone(within, isEnd ? undefined : page.next), []);
    const planned = within.filter((head) => isPlanned(head, job));
    const heads = planned.slice(0, this.#room);
    const isWhole = heads.length === planned.length;
    // One that is being redriven belongs to whoever does: taken back later, it would be there although it is delivered.
    const free = heads.filter(({ id }) => !this.#run.parts.busy.has(id));
    const again = this.#asked.add(free);
    const gone = free.length === 0 ? again : await this.#remove(free.map(({ id }) => id));
    // What an index still shows of an earlier call is gone by that one.
    const isMine = ({ id }: DeadLetterHead): boolean => gone.has(id) || again.has(id);
    this.#asked.answered(free);
    this.#count(
      heads.filter(isMine),
      heads.filter((head) => !isMine(head)),
    );
    const last = isWhole ? (page.next ?? heads.at(-1)) : heads.at(-1);
    if (last !== undefined) this.#run.job = { ...this.#run.job, cursor: positionOf(last) };
    if (isWhole ? !isEnd : this.#room > 0) return heads.length;
    await this.#countMoved();
    this.#run.complete();
    return undefined;
  }

  async settled(withinMs: number): Promise<void> {
    const isSure = this.#isCounted && this.#asked.isEmpty;
    if (isSure || this.#run.job.state === "completed" || this.#run.job.undoUntil === undefined) return;
    this.#countAhead(await this.#trash.counted(this.#cap, withinMs));
  }

  async #remove(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const { job, store, parts, hold } = this.#run;
    // A store makes a call again whose answer was lost, also when the process stands still in between.
    const withinMs = hold.sureForMs;
    // The process may have stood still since it asked for the page, and another one have finished the job, or taken it back.
    if (withinMs <= 0) throw new BridgeError("UNAVAILABLE", "another instance may have the job", { charged: false });
    const { trash } = store.admin;
    const { undoUntil } = job;
    if (undoUntil === undefined) return this.#calls.bounded((signal) => store.admin.delete(ids, signal), withinMs);
    if (trash === undefined) throw new BridgeError("UNAVAILABLE", "the DLQ store has no trash");
    // What is purged late is kept a little longer, so that an undo that is asked for in time finds all of it.
    const until = Math.max(undoUntil, parts.clock.now() + (job.undoWithinMs ?? 0));
    return this.#calls.bounded((signal) => trash.move(ids, job.id, until, signal), withinMs);
  }

  /** Never more than the plan has shown: of clocks that differ, entries may join that failed after it. What was not counted is not bounded. */
  get #room(): number {
    const { plan, total, counts } = this.#run.job;
    return plan.exact ? Math.max(0, total - doneOf(counts)) : Number.POSITIVE_INFINITY;
  }

  /** More than a plan shows is never moved. */
  get #cap(): number {
    const { plan, total } = this.#run.job;
    return plan.exact ? total : Number.MAX_SAFE_INTEGER;
  }

  #countAhead(known: number | undefined): void {
    this.#isCounted = true;
    if (known !== undefined && this.#run.job.undoUntil !== undefined) this.#trash.countAhead(known);
  }

  /** What this job has moved without being told, as its owner was killed or an answer lost, is in its batch of the trash. */
  async #countMoved(): Promise<void> {
    const { undoUntil, counts, total } = this.#run.job;
    const isWhole = counts.skipped === 0 && doneOf(counts) >= total;
    if (undoUntil !== undefined && !isWhole)
      this.#trash.countMoved((await this.#trash.count(Number.MAX_SAFE_INTEGER)) ?? 0);
  }

  #count(done: readonly DeadLetterHead[], others: readonly DeadLetterHead[]): void {
    const { job } = this.#run;
    const { counts, movedAhead = 0 } = job;
    // An index may still show what is moved and counted.
    const ahead = Math.min(movedAhead, others.length);
    const [gone, skipped] = [done.length, others.length - ahead];
    const byRoute = new Map<string, number>();
    for (const { routeId } of [...done, ...others]) byRoute.set(routeId, (byRoute.get(routeId) ?? 0) + 1);
    this.#run.job = {
      ...job,
      counts: { ...counts, succeeded: counts.succeeded + gone, skipped: counts.skipped + skipped },
      ...(ahead > 0 && { movedAhead: movedAhead - ahead }),
      lanes: job.lanes.map((lane) => ({ ...lane, done: lane.done + (byRoute.get(lane.routeId) ?? 0) })),
    };
    this.#run.tally("succeeded", gone);
    this.#run.tally("skipped", skipped);
  }
}
