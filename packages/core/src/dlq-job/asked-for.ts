import { type DeadLetter, deadLetterHead } from "@bridge/ports";
import { matchesQuery, SpoiledDeadLetter } from "@bridge/ports/internal";
import type { Job } from "./job.ts";
import { setQuery } from "./set-query.ts";

const OTHER =
  "is not what the filter of the job asks for, though its store finds it by that: somebody has changed its row, or its message has failed again. It is kept, and not sent";

/**
 * The entry, or why the job must not send it. A store finds an entry by what it keeps beside it, which somebody may have changed; what is
 * sent is what the entry says of itself. Marks stand beside it in any case.
 */
export function askedFor(
  entry: DeadLetter,
  job: Pick<Job, "kind" | "query" | "createdAt">,
): DeadLetter | SpoiledDeadLetter {
  const { assignee: _, quarantined: __, jobId: ___, ...query } = setQuery(job);
  return matchesQuery(deadLetterHead(entry), query) ? entry : new SpoiledDeadLetter(entry.id, OTHER);
}
