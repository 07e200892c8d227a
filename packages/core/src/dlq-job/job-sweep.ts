import { askStore } from "../dlq/ensure-marked.ts";
import { isOver } from "./job.ts";
import { type JobBook, type KeptJob, MAX_JOBS } from "./job-book.ts";
import { isNameable } from "./job-document.ts";
import type { JobParts, JobsStore } from "./job-parts.ts";

const SWEEP_MS = 60_000;
const KEPT_MS = 7 * 24 * 3_600_000;
const MAX_ENDED = 200;
/** Of those that are damaged: they take no place of others. */
const MAX_DAMAGED = 100;
const TRASH_CAP = 1_000_000;
const COUNT_TIMEOUT_MS = 20_000;

/** What has been over for long is forgotten, and the trash is counted: once a minute. */
export class JobSweep {
  readonly #parts: JobParts;
  #sweptAt = -Infinity;
  /** Told as damaged, and as kept beyond their time. */
  #damaged: ReadonlySet<string> = new Set();
  #told: ReadonlySet<string> = new Set();

  constructor(parts: JobParts) {
    this.#parts = parts;
  }

  async inTime(book: JobBook, store: JobsStore, signal: AbortSignal): Promise<void> {
    const { clock, tallies } = this.#parts;
    if (clock.monotonic() - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = clock.monotonic();
    const isInTime = (): boolean => clock.monotonic() - this.#sweptAt < COUNT_TIMEOUT_MS;
    while ((await this.#forget(book, store, signal)) && isInTime());
    tallies.trashEntries = await this.#trashed(store, signal);
  }

  /** Resolves to whether what it has forgotten may have hidden others. */
  async #forget(book: JobBook, store: JobsStore, signal: AbortSignal): Promise<boolean> {
    const all = await book.list(undefined, signal);
    const sound = all.filter(({ job, isReadable }) => isReadable && isOver(job.state));
    const damaged = all.filter(({ isDamaged }) => isDamaged);
    this.#tellDamaged(damaged);
    const now = this.#parts.clock.now();
    const isOld = ({ job }: KeptJob): boolean => (job.endedAt ?? job.createdAt) < now - KEPT_MS;
    // Of a damaged job the time may be changed, too: one that is far ahead would keep it for ever.
    const isUseless = ({ job }: KeptJob): boolean => !isNameable(job.id) || Math.abs(now - job.createdAt) > KEPT_MS;
    const asked = [
      ...sound.slice(0, MAX_ENDED).filter(isOld),
      ...damaged.filter((kept, nth) => nth >= MAX_DAMAGED || isUseless(kept)),
    ];
    const needed = await this.#needed(asked, store, signal);
    const due = [...sound.slice(MAX_ENDED), ...asked].map(({ job }) => job.id).filter((id) => !needed.has(id));
    if (due.length > 0) await book.delete(due, signal);
    return all.length >= MAX_JOBS && due.length > 0;
  }

  #tellDamaged(kept: readonly KeptJob[]): void {
    const damaged = new Set(kept.map(({ job }) => job.id));
    for (const id of damaged)
      if (!this.#damaged.has(id))
        this.#parts.logger.error("a job of the DLQ is not as it was written: it is not gone on with", { job_id: id });
    this.#damaged = damaged;
  }

  /** Those of which the trash has something in time, or does not say that it has nothing: without its job nobody could take it back. */
  async #needed(
    asked: readonly KeptJob[],
    { admin: { trash } }: JobsStore,
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>> {
    const purges = asked.filter(({ job }) => job.kind === "purge");
    const needed = new Set(trash === undefined ? [] : purges.map(({ job }) => job.id));
    const counted = async (bounded: AbortSignal): Promise<void> => {
      for (const id of needed) {
        const count = await trash?.count(1, bounded, id).catch(() => undefined);
        if (count === 0) needed.delete(id);
      }
    };
    await askStore({ clock: this.#parts.clock, signal }, counted, COUNT_TIMEOUT_MS).catch(() => {});
    signal.throwIfAborted();
    for (const id of needed)
      if (!this.#told.has(id))
        this.#parts.logger.warn("a job is kept beyond its time: the trash has entries of it, or does not tell", {
          job_id: id,
        });
    this.#told = needed;
    return needed;
  }

  /** A store that never answers would keep this instance from every job. */
  async #trashed({ admin: { trash } }: JobsStore, signal: AbortSignal): Promise<number | undefined> {
    if (trash === undefined) return undefined;
    const count = (bounded: AbortSignal): Promise<number> => trash.count(TRASH_CAP, bounded);
    return askStore({ clock: this.#parts.clock, signal }, count, COUNT_TIMEOUT_MS);
  }
}
