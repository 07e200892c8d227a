import { BridgeError } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import { isOver } from "./job.ts";
import type { JobBook } from "./job-book.ts";
import type { JobParts, JobsStore } from "./job-parts.ts";

const SWEEP_MS = 60_000;
const KEPT_MS = 7 * 24 * 3_600_000;
const MAX_ENDED = 200;
/** With those that are active. */
const LOOKED_AT = 500;
const TRASH_CAP = 1_000_000;
const COUNT_TIMEOUT_MS = 20_000;

/** What has been over for long is forgotten, and the trash is counted: once a minute. */
export class JobSweep {
  readonly #parts: JobParts;
  #sweptAt = -Infinity;

  constructor(parts: JobParts) {
    this.#parts = parts;
  }

  async inTime(book: JobBook, store: JobsStore, signal: AbortSignal): Promise<void> {
    const { clock, tallies } = this.#parts;
    if (clock.monotonic() - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = clock.monotonic();
    // What is damaged is over, whatever stands beside its document.
    const ended = (await book.list(undefined, LOOKED_AT, signal)).filter(({ job }) => isOver(job.state));
    const oldest = clock.now() - KEPT_MS;
    const gone = ended.filter(({ job }, nth) => nth >= MAX_ENDED || (job.endedAt ?? job.createdAt) < oldest);
    const ids = gone.filter(({ isReadable, isDamaged }) => isReadable || isDamaged).map(({ job }) => job.id);
    if (ids.length > 0) await book.delete(ids, signal);
    tallies.trashEntries = await this.#trashed(store, signal);
  }

  /** A store that never answers would keep this instance from every job. */
  async #trashed({ admin: { trash } }: JobsStore, signal: AbortSignal): Promise<number | undefined> {
    if (trash === undefined) return undefined;
    using limit = deadline(
      this.#parts.clock,
      COUNT_TIMEOUT_MS,
      () => new BridgeError("TIMEOUT", "the DLQ store did not answer"),
    );
    const bounded = AbortSignal.any([signal, limit.signal]);
    return await orAborted(trash.count(TRASH_CAP, bounded), bounded);
  }
}
