import { type DeadLetter, deadLetterHead } from "@bridge/ports";
import { matchesQuery, SpoiledDeadLetter } from "@bridge/ports/internal";
import type { Job } from "./job.ts";
import { setQuery } from "./set-query.ts";

const OTHER =
  "does not match the filter of the job: somebody has changed its row in the store, or its message has failed again. It is kept and not sent; redrive it by its id, or delete it";

/**
 * The entry, or why the job must not send it. A store finds entries by columns, which somebody may have changed. A job sends the entry itself,
 * so the entry itself has to match. Its marks are not part of it.
 */
export function askedFor(
  entry: DeadLetter,
  job: Pick<Job, "kind" | "query" | "createdAt">,
): DeadLetter | SpoiledDeadLetter {
  const { assignee: _, quarantined: __, jobId: ___, ...query } = setQuery(job);
  const { id, payload } = entry.envelope;
  // A fingerprint costs more than all the rest, so it is made only for a filter that names one.
  const head =
    query.fingerprint === undefined
      ? { ...entry, envelopeId: id, payloadBytes: payload.length, fingerprint: "" }
      : deadLetterHead(entry);
  return matchesQuery(head, query) ? entry : new SpoiledDeadLetter(entry.id, OTHER);
}
