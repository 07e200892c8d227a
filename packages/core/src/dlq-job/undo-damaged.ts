import type { Clock } from "@bridge/ports";
import { askStore } from "../dlq/ensure-marked.ts";
import { OperationError } from "../operation-error.ts";
import type { Job } from "./job.ts";
import type { JobBook } from "./job-book.ts";
import type { JobsStore } from "./job-parts.ts";

/** In entries a second: an undo goes as fast as its store. */
const RATE = 1_000;
/** An undo counts the rest itself. */
const MAX_COUNTED = 10_000;

interface Given {
  readonly book: JobBook;
  readonly store: JobsStore;
  readonly clock: Clock;
}

/**
 * Begins to undo a purge whose document is damaged: its id names its batch of the trash, which is all that an undo needs. `undefined`
 * when it is not damaged, or has nothing there.
 */
export async function undoDamaged(
  id: string,
  { book, store, clock }: Given,
  signal: AbortSignal,
): Promise<Job | undefined> {
  const kept = await book.get(id, signal);
  const { trash } = store.admin;
  if (kept?.isDamaged !== true || trash === undefined) return undefined;
  const count = await askStore({ clock, signal }, (bound) => trash.count(MAX_COUNTED, bound, id));
  if (count === 0) return undefined;
  const job = undoing(kept.job, count, clock.now());
  if (await book.replace(kept, job, signal)) return job;
  throw new OperationError("conflict", "the job is being written by others: try again");
}

function undoing(damaged: Job, inTrash: number, now: number): Job {
  return {
    ...damaged,
    state: "undoing",
    reason: "what was written of the job was damaged: what it had moved into the trash is taken back",
    settings: { ...damaged.settings, rate: RATE, concurrency: 1 },
    plan: { ...damaged.plan, total: inTrash, warnings: [] },
    startedAt: damaged.createdAt,
    updatedAt: now,
    undoUntil: now,
    total: inTrash,
    counts: { ...damaged.counts, succeeded: inTrash },
  };
}
