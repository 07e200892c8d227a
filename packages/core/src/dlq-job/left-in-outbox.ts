import type { DeadLetterHead } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import type { JobRun } from "./job-run.ts";
import { isBehind } from "./lane-reader.ts";
import { setQuery } from "./set-query.ts";

const LOOK_MS = 10_000;
/** So many are looked at: what was in flight is at the head of its lane. */
const MAX_LOOKED_AT = 512;
const AT_ONCE = 16;

/**
 * What an owner that was killed has put into an outbox, of which it had not written anything: as many entries as may have been in flight.
 * As far as the stores tell; never rejects.
 */
export async function leftInOutbox(run: JobRun): Promise<readonly string[]> {
  const { job, store, parts, cut } = run;
  const { lanes, ahead, pending, counts, until } = job;
  using limit = deadline(parts.clock, LOOK_MS, new Error("the stores did not answer"));
  const signal = AbortSignal.any([cut, limit.signal]);
  const known = new Set([...ahead, ...pending]);
  const most = Math.min(MAX_LOOKED_AT, counts.inDoubt + known.size);
  const found: string[] = [];
  const look = async (head: DeadLetterHead): Promise<void> => {
    // What is in flight here is counted when it has ended, which may be before the outbox answers.
    if (parts.busy.has(head.id)) return;
    if ((await orAborted(parts.redrives(head, signal), signal)) && !parts.busy.has(head.id)) found.push(head.id);
  };
  try {
    for (const { routeId, cursor: after, ended } of lanes) {
      if (ended || most === 0) continue;
      const page = { limit: most, budget: most, order: "oldest", after } as const;
      const { entries } = await orAborted(store.page({ ...setQuery(job), routeId }, page, signal), signal);
      const heads = entries.filter((head) => !known.has(head.id) && (until === undefined || !isBehind(head, until)));
      for (let start = 0; start < heads.length; start += AT_ONCE)
        await Promise.all(heads.slice(start, start + AT_ONCE).map(look));
    }
  } catch {
    // What is not found counts as left.
  }
  return found;
}
