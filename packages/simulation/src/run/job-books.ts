import { isOver, type Job } from "@bridge/core";
import type { DeadLetter, StoredJob } from "@bridge/ports";
import type { Owner } from "../time/virtual-time.ts";
import { DlqLetters } from "./audit/dlq-letters.ts";
import { JobReplays, type JobReplaysOptions } from "./audit/job-replays.ts";
import { impossibleIn, leftInTrash, leftUndone, tooManyRemaining } from "./audit/job-rules.ts";
import { followOwner, type KnownJob, newlyKnown } from "./audit/known-job.ts";
import { RedriveCounts } from "./audit/redrive-counts.ts";

export interface JobBooksOptions extends JobReplaysOptions {
  readonly now: () => number;
  /** Whether the route sends to several bindings. */
  readonly fansOut: boolean;
  /** Whether monotonic clocks show for how long an instance stood still. */
  readonly measured: boolean;
  /** How long others wait for a sign of life of an owner, and by how much clocks may differ, as a part of that. */
  readonly ttlMs: number;
}

/** What the edges see of jobs of the DLQ, and what of that does not fit what is promised of them. */
export class JobBooks {
  readonly letters = new DlqLetters();
  readonly replays: JobReplays;
  readonly redrives: RedriveCounts;
  readonly #options: JobBooksOptions;
  readonly #jobs = new Map<string, KnownJob>();
  readonly #keys = new Map<string, string>();

  constructor(options: JobBooksOptions) {
    this.#options = options;
    this.replays = new JobReplays(options);
    this.redrives = new RedriveCounts(options.violated);
  }

  /** Those that somebody has begun and that are not over. */
  get open(): readonly Job[] {
    return this.documents.filter(({ state }) => state !== "planned" && !isOver(state));
  }

  get documents(): readonly Job[] {
    return [...this.#jobs.values()].map(({ document }) => document);
  }

  kept(entry: DeadLetter, isNew: boolean): void {
    const replay = this.replays.under(entry.envelope.id);
    if (replay !== undefined && this.letters.spellOf(replay.entryId) === replay.spell)
      this.#options.violated(
        `${replay.job.document.id} has written another dead letter for ${replay.entryId}, which is still there`,
      );
    if (isNew) this.letters.add(entry);
  }

  left(id: string): void {
    this.letters.left(id);
    for (const { fetched, gone } of this.#jobs.values()) if (fetched.has(id)) gone.add(id);
  }

  /** Whether a purge that cannot be undone may be what deletes it. */
  mayErase(id: string): boolean {
    const failedAt = this.letters.of(id)?.failedAt ?? Infinity;
    return this.documents.some(
      ({ kind, startedAt, undoUntil, createdAt }) =>
        kind === "purge" && startedAt !== undefined && undoUntil === undefined && failedAt < createdAt,
    );
  }

  /** An instance asks for an entry, which is how an attempt of a job begins. */
  fetches(by: Owner, entryId: string): void {
    const letter = this.letters.of(entryId);
    if (letter === undefined) return;
    const { spell, bindingId } = letter;
    const wide = this.#options.fansOut && bindingId === "";
    for (const job of this.#jobs.values()) {
      const { kind, state, attempt, owner } = job.document;
      if (kind !== "redrive" || isOver(state)) continue;
      job.fetched.add(entryId);
      const isOwner = state === "running" && owner?.instanceId === by.name;
      const mayThinkSo = this.#options.now() <= job.unawareUntil;
      const licensed = isOwner || mayThinkSo || !this.#options.measured;
      for (let tried = 1; tried <= attempt; tried++)
        this.replays.fetched(by, { job, attempt: tried, entryId, spell, wide }, licensed);
    }
  }

  marked(by: Owner, entryId: string, jobId: string, attempt: number): void {
    const job = this.#jobs.get(jobId);
    if (job === undefined) return this.#options.violated(`entry ${entryId} is marked by ${jobId}, which there is not`);
    const marked = job.marked.get(attempt) ?? new Set();
    job.marked.set(attempt, marked.add(entryId));
    this.replays.marked(by, { job, attempt, entryId });
  }

  /** What is to be told of it. `inTrash`: how many entries it could still have back. */
  written(stored: StoredJob, inTrash: number): readonly string[] {
    const document = JSON.parse(stored.document) as Job;
    const job = this.#jobs.get(document.id) ?? this.#added(document);
    const before = job.document;
    job.document = document;
    job.mostAtOnce = Math.max(job.mostAtOnce, document.settings.concurrency);
    const { now, ttlMs } = this.#options;
    followOwner(job, before, { now: now(), ttlMs });
    this.#violated(impossibleIn(job, before));
    if (document.state === "completed" && before.state !== "completed") this.#violated(leftUndone(job, this.letters));
    const mayHaveSucceeded = (entryId: string): boolean => this.replays.mayHaveSucceeded(job, entryId);
    this.#violated(tooManyRemaining(job, before, this.letters, mayHaveSucceeded));
    if (document.state === "undone") this.#violated(leftInTrash(document, inTrash));
    const { id, kind, state, owner, counts, attempt } = document;
    if (state === before.state && owner?.holder === before.owner?.holder && stored.revision > 1) return [];
    const by = owner === undefined ? "nobody" : owner.instanceId;
    return [`${id} (${kind}) is ${state}, in its try ${attempt}, with ${by}: ${JSON.stringify(counts)}`];
  }

  /** An entry has gone into the trash for it. */
  trashed(jobId: string): void {
    const job = this.#jobs.get(jobId);
    if (job !== undefined) job.trashed++;
  }

  close(): void {
    const { violated, outbox, measured } = this.#options;
    for (const { document, again, handovers, mostAtOnce } of this.#jobs.values()) {
      const most = handovers * mostAtOnce;
      for (const [binding, count] of again)
        if (!outbox && measured && count > most)
          violated(
            `${document.id} has sent ${count} entries again that ${binding} had, where ${most} would have a cause`,
          );
    }
  }

  #added(document: Job): KnownJob {
    const { id, asked } = document;
    if (asked !== undefined && this.#keys.has(asked.key))
      this.#options.violated(`${id} was asked for under the same key as ${this.#keys.get(asked.key)}`);
    if (asked !== undefined) this.#keys.set(asked.key, id);
    const job = newlyKnown(document, { ...this.letters.setOf(document), came: this.letters.came });
    this.#jobs.set(id, job);
    return job;
  }

  #violated(faults: Iterable<string>): void {
    for (const words of faults) this.#options.violated(words);
  }
}
