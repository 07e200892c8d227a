import type { Clock, DeadLetterHead, DeadLetterPosition, DeadLetterQuery } from "@bridge/ports";
import { orAborted, Slices } from "@bridge/ports/internal";
import type { JobsStore } from "./job-parts.ts";
import { isBehind } from "./lane-reader.ts";
import type { SetCount } from "./set-count.ts";

/** How many entries are looked at, and in how many places of the time that they are of. */
export const SAMPLE_SIZE = 1_000;
const PLACES = 20;
const BUDGET = 10_000;

/** Up to 1,000 entries of a set: all of a small one, else some from each part of its time. */
export async function sampleOf(
  store: JobsStore,
  query: DeadLetterQuery,
  { total, oldestFailedAt: from = 0, newestFailedAt: to = 0, until }: SetCount,
  clock: Clock,
  signal: AbortSignal,
): Promise<readonly DeadLetterHead[]> {
  const found: DeadLetterHead[] = [];
  const places = total <= SAMPLE_SIZE ? 1 : PLACES;
  const slices = new Slices(clock);
  let next: DeadLetterPosition | undefined;
  for (let place = 0; place < places; place++) {
    const at = { failedAt: from + ((to - from) * place) / places, id: "" };
    // Entries of one time follow one another.
    const after = place === 0 ? undefined : next !== undefined && isBehind(next, at) ? next : at;
    const page = { limit: SAMPLE_SIZE / places, budget: BUDGET, order: "oldest", after } as const;
    const { entries, next: end } = await orAborted(store.page(query, page, signal), signal);
    found.push(...entries.filter((head) => until === undefined || !isBehind(head, until)));
    next = end;
    if (end === undefined) break;
    // A store may answer within one turn.
    if (slices.over) await slices.next();
  }
  return found;
}
