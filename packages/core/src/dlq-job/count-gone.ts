import type { DeadLetterHead, DeadLetterPosition, DeadLetterQuery } from "@bridge/ports";
import { deadline, isSpoiled, orAborted, Slices } from "@bridge/ports/internal";
import { entryOrSpoiled } from "../dlq/entry-or-spoiled.ts";
import { doneOf, type Job } from "./job.ts";
import type { JobRun } from "./job-run.ts";
import type { EntriesStore } from "./watched-store.ts";
import { isBehind } from "./lane-reader.ts";
import { isPlanned } from "./planned-entry.ts";
import { setQuery } from "./set-query.ts";

/** What stands still may wait for so long until it is counted. */
const COUNT_MS = 20_000;
const PAUSE_MS = 1_000;
const PAGE = { limit: 1_000, budget: 10_000, order: "oldest" } as const;
const GETS = 16;

/** What is left of a job's set: how many entries of each route, and which of those in the outbox are there no more. */
interface Left {
  readonly byRoute: ReadonlyMap<string, number>;
  readonly delivered: ReadonlySet<string>;
}

/**
 * An owner that was killed may have delivered or erased entries that are counted nowhere. Whoever completes the job meets none of them and
 * counts them as skipped; one that comes to stand still before that counts them here, by what is left. Never rejects.
 */
export async function countGone(run: JobRun): Promise<void> {
  const mayCount = (): boolean => run.job.uncounted === true && run.isHeld && !run.cut.aborted;
  // While its store does not take the job, either, it stays in hand all the same.
  do await countInTime(run, mayCount);
  while (mayCount() && !run.hold.isStored);
  if (mayCount())
    run.parts.logger.warn("a job may have done more than it has counted: the DLQ store does not tell", {
      job_id: run.job.id,
    });
}

async function countInTime(run: JobRun, mayCount: () => boolean): Promise<void> {
  const { clock } = run.parts;
  using limit = deadline(clock, COUNT_MS, new Error("the DLQ store did not answer"));
  const signal = AbortSignal.any([run.cut, limit.signal]);
  while (mayCount() && !signal.aborted) {
    try {
      const left = await leftOf(run, signal);
      const { succeeded, skipped } = run.job.counts;
      run.job = withGone(run.job, left);
      run.tally("succeeded", run.job.counts.succeeded - succeeded);
      run.tally("skipped", run.job.counts.skipped - skipped);
    } catch {
      await clock.delay(PAUSE_MS, signal).catch(() => {});
    }
  }
}

async function leftOf({ job, store, parts }: JobRun, signal: AbortSignal): Promise<Left> {
  const byRoute = new Map<string, number>();
  const add = (routeId: string): void => void byRoute.set(routeId, (byRoute.get(routeId) ?? 0) + 1);
  // What is quarantined by now may have been so before the plan, which had left it out: it stands for nothing that is gone.
  const query = setQuery(job);
  const ways = job.lanes
    .filter(({ ended }) => !ended)
    .map(({ routeId, cursor }) => ({ query: { ...query, routeId }, cursor }));
  const known = new Set([...job.ahead, ...job.pending]);
  const slices = new Slices(parts.clock);
  for (const way of job.kind === "purge" ? [{ query, cursor: job.cursor }] : ways)
    for await (const head of headsOf(store, way, job.until, signal)) {
      if (!known.has(head.id) && isPlanned(head, job)) add(head.routeId);
      // A store may answer within one turn.
      if (slices.over) await slices.next();
    }
  const delivered = new Set<string>();
  for (let start = 0; start < job.pending.length; start += GETS) {
    const ids = job.pending.slice(start, start + GETS);
    const entries = await orAborted(Promise.all(ids.map((id) => entryOrSpoiled(store.get(id, signal)))), signal);
    for (const [nth, id] of ids.entries()) {
      const entry = entries[nth];
      // What cannot be read is there, of whatever lane.
      if (isSpoiled(entry)) add(job.lanes[0]?.routeId ?? "");
      else if (entry !== undefined && entry.failedAt < job.createdAt) add(entry.routeId);
      else delivered.add(id);
    }
  }
  return { byRoute, delivered };
}

async function* headsOf(
  store: Pick<EntriesStore, "page">,
  { query, cursor }: { readonly query: DeadLetterQuery; readonly cursor: DeadLetterPosition | undefined },
  until: DeadLetterPosition | undefined,
  signal: AbortSignal,
): AsyncGenerator<DeadLetterHead> {
  let after = cursor;
  do {
    const page = await orAborted(store.page(query, { ...PAGE, after }, signal), signal);
    for (const head of page.entries) {
      if (until !== undefined && isBehind(head, until)) return;
      yield head;
    }
    after = page.next;
  } while (after !== undefined);
}

/**
 * What was in the outbox and is gone is known to be delivered. What else is missing of the plan is skipped, but for as many entries as
 * have joined it, where clocks differ, or as it did not count: nobody tells these apart.
 */
function withGone(job: Job, { byRoute, delivered }: Left): Job {
  const { uncounted: _, ...known } = job;
  const { total, lanes, pending, plan } = known;
  const left = [...byRoute.values()].reduce((sum, count) => sum + count, 0);
  const succeeded = known.counts.succeeded + delivered.size;
  // Of an estimate nobody knows how much of it was there.
  const missing = Math.max(0, (plan.seen ?? total) - doneOf({ ...known.counts, succeeded }) - left);
  const counts = { ...known.counts, succeeded, skipped: known.counts.skipped + missing };
  const isEstimate = plan.seen !== undefined;
  return {
    ...known,
    counts,
    total: isEstimate ? doneOf(counts) + left : Math.max(total, doneOf(counts)),
    pending: pending.filter((id) => !delivered.has(id)),
    lanes: lanes.map((lane) => {
      const there = byRoute.get(lane.routeId) ?? 0;
      const all = isEstimate ? lane.done + there : lane.total;
      return { ...lane, total: all, done: Math.max(lane.done, all - there) };
    }),
  };
}
