import { hash } from "node:crypto";
import { isOver, type Job } from "@bridge/core";
import type { DeadLetter, StoredJob } from "@bridge/ports";
import { LONG_MS } from "../plan/planned-job.ts";
import type { Owner } from "../time/virtual-time.ts";

/** A dead letter, whether it is there or not. */
interface Letter {
  readonly routeId: string;
  readonly failedAt: number;
  here: boolean;
  /** How often it has come: by a write, or out of the trash. */
  spell: number;
  /** When it came last, in the order of all that have come. */
  came: number;
}

/** One try of a job to deliver one dead letter, under an envelope id of its own. */
interface Replay {
  readonly job: KnownJob;
  readonly attempt: number;
  readonly entryId: string;
  /** Of the entry, when it was fetched first. */
  readonly spell: number;
  /** Instances that may attempt it, because they had the job when they fetched it. */
  readonly licensed: Set<Owner>;
  /** By binding: one without a binding of its own goes to all of its route. */
  readonly legs: Map<string, ReplayedLeg>;
  markedBy: Owner | undefined;
}

/** It was sent to a target. */
interface ReplayedLeg {
  /** Who heard last that the target has it. */
  heardBy: Owner | undefined;
}

interface KnownJob {
  document: Job;
  /** The entries that it was planned for, each with its spell. */
  readonly set: ReadonlyMap<string, number>;
  /** How many had come by then. */
  readonly came: number;
  /** Entries that were fetched since it is there, and those of them that were gone at some time since. */
  readonly fetched: Set<string>;
  readonly gone: Set<string>;
  /** By try: the entries that it has marked. */
  readonly marked: Map<number, Set<string>>;
  mostAtOnce: number;
  /** How often it has gone from one instance to another. */
  handovers: number;
  lastOwner: string | undefined;
  /** Until when whoever had it before may not know that somebody else has it: clocks drift. */
  unawareUntil: number;
  /** By binding: attempts of what its target was heard to have, by another instance. */
  readonly again: Map<string, number>;
  /** Entries that it has put into the trash, and had back. */
  trashed: number;
}

export interface JobBooksOptions {
  readonly violated: (words: string) => void;
  readonly now: () => number;
  /** Whether replays go through an outbox, whose drains are anybody's. */
  readonly outbox: boolean;
  /** Whether somebody redrives entries besides the jobs: what is under way then a purge leaves to that, and says so. */
  readonly redrives: boolean;
  /** Whether monotonic clocks show for how long an instance stood still. */
  readonly measured: boolean;
  /** How long others wait for a sign of life of an owner, and by how much clocks may differ, as a part of that. */
  readonly ttlMs: number;
}

/** Two clocks that are each wrong by a hundredth, and some for rounding. */
const DRIFT = 0.03;
const LEAST_UNAWARE_MS = 5;

/** What the edges see of jobs of the DLQ, and what of that does not fit what is promised of them. */
export class JobBooks {
  readonly #options: JobBooksOptions;
  readonly #letters = new Map<string, Letter>();
  readonly #keptAs = new Set<string>();
  /** How many have come. */
  #came = 0;
  readonly #jobs = new Map<string, KnownJob>();
  readonly #replays = new Map<string, Replay>();
  readonly #keys = new Map<string, string>();

  constructor(options: JobBooksOptions) {
    this.#options = options;
  }

  /** Those that somebody has begun and that are not over. */
  get open(): readonly Job[] {
    return this.documents.filter(({ state }) => state !== "planned" && !isOver(state));
  }

  get documents(): readonly Job[] {
    return [...this.#jobs.values()].map(({ document }) => document);
  }

  kept({ id, routeId, failedAt, envelope }: DeadLetter, isNew: boolean): void {
    const replay = this.#replays.get(envelope.id);
    const original = replay && this.#letters.get(replay.entryId);
    if (replay !== undefined && original?.here === true && original.spell === replay.spell)
      this.#options.violated(
        `${replay.job.document.id} has written another dead letter for ${replay.entryId}, which is still there`,
      );
    if (!isNew) return;
    this.#keptAs.add(envelope.id);
    this.#letters.set(id, {
      routeId,
      failedAt,
      here: true,
      spell: (this.#letters.get(id)?.spell ?? 0) + 1,
      came: ++this.#came,
    });
  }

  /** Whether a dead letter was written for the envelope with that id. */
  wasKeptAs(envelopeId: string): boolean {
    return this.#keptAs.has(envelopeId);
  }

  /** How often it had come into a DLQ when it came there last; 0 when it is gone, `undefined` when it was never there. */
  spellOf(id: string): number | undefined {
    const letter = this.#letters.get(id);
    return letter?.here === false ? 0 : letter?.spell;
  }

  left(id: string): void {
    const letter = this.#letters.get(id);
    if (letter !== undefined) letter.here = false;
    for (const { fetched, gone } of this.#jobs.values()) if (fetched.has(id)) gone.add(id);
  }

  /** It has come out of the trash. */
  back(id: string): void {
    const letter = this.#letters.get(id);
    if (letter === undefined) return;
    letter.here = true;
    letter.spell++;
    letter.came = ++this.#came;
  }

  /** Whether a purge that cannot be undone may be what deletes it. */
  mayErase(id: string): boolean {
    const failedAt = this.#letters.get(id)?.failedAt ?? Infinity;
    return this.documents.some(
      ({ kind, startedAt, undoUntil, createdAt }) =>
        kind === "purge" && startedAt !== undefined && undoUntil === undefined && failedAt < createdAt,
    );
  }

  /** An instance asks for an entry, which is how an attempt of a job begins. */
  fetches(by: Owner, entryId: string): void {
    const letter = this.#letters.get(entryId);
    if (letter === undefined) return;
    for (const job of this.#jobs.values()) {
      const { kind, state, id, attempt, owner } = job.document;
      if (kind !== "redrive" || isOver(state)) continue;
      job.fetched.add(entryId);
      const isOwner = state === "running" && owner?.instanceId === by.name;
      const mayThinkSo = this.#options.now() <= job.unawareUntil;
      for (let tried = 1; tried <= attempt; tried++) {
        const replay = this.#replay(job, id, tried, entryId, letter.spell);
        if (isOwner || mayThinkSo || !this.#options.measured) replay.licensed.add(by);
      }
    }
  }

  marked(by: Owner, entryId: string, jobId: string, attempt: number): void {
    const job = this.#jobs.get(jobId);
    if (job === undefined) return this.#options.violated(`entry ${entryId} is marked by ${jobId}, which there is not`);
    const marked = job.marked.get(attempt) ?? new Set();
    job.marked.set(attempt, marked.add(entryId));
    const replay = this.#replays.get(envelopeIdOf(jobId, attempt, entryId));
    if (replay !== undefined) replay.markedBy = by;
  }

  /** What is to be told of it. `inTrash`: how many entries it could still have back. */
  written(stored: StoredJob, inTrash: number): readonly string[] {
    const document = JSON.parse(stored.document) as Job;
    const job = this.#jobs.get(document.id) ?? this.#added(document);
    const before = job.document;
    job.document = document;
    job.mostAtOnce = Math.max(job.mostAtOnce, document.settings.concurrency);
    this.#hold(job, before, document);
    this.#count(job, before, document);
    if (document.state === "completed" && before.state !== "completed") this.#isComplete(job);
    if (document.state === "undone" && (document.undoWithinMs ?? 0) >= LONG_MS && inTrash > 0)
      this.#options.violated(`${document.id} is undone, and ${inTrash} of its entries are in the trash`);
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

  /**
   * What a send under this envelope id to a binding is: the first of a replay, another one of the same attempt, or one more attempt
   * although its target was heard to have it, which only another instance may make. `undefined`: it is no job's.
   */
  sends(by: Owner, envelopeId: string, binding: string): "first" | "retry" | "again" | undefined {
    const replay = this.#replays.get(envelopeId);
    if (replay === undefined) return undefined;
    const { job, markedBy, entryId, legs } = replay;
    const { violated, outbox } = this.#options;
    const { id } = job.document;
    const sent = legs.get(binding);
    const heardBy = sent?.heardBy;
    if (!outbox) {
      if (!replay.licensed.has(by)) violated(`${by.name} sends ${entryId} for ${id}, which it has not got`);
      if (heardBy === by) violated(`${by.name} sends ${entryId} for ${id} again, which it has heard is delivered`);
      if (markedBy === by) violated(`${by.name} sends ${entryId} for ${id} again in the same try, which it has marked`);
    }
    legs.set(binding, { heardBy: undefined });
    if (sent === undefined) return "first";
    if (heardBy === undefined) return "retry";
    job.again.set(binding, (job.again.get(binding) ?? 0) + 1);
    return "again";
  }

  /** Its sender hears that the target of a binding has it. */
  heard(by: Owner, envelopeId: string, binding: string): void {
    this.#replays.get(envelopeId)?.legs.set(binding, { heardBy: by });
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
    const { id, asked, createdAt, query } = document;
    if (asked !== undefined && this.#keys.has(asked.key))
      this.#options.violated(`${id} was asked for under the same key as ${this.#keys.get(asked.key)}`);
    if (asked !== undefined) this.#keys.set(asked.key, id);
    const set = new Map<string, number>();
    for (const [entryId, { here, failedAt, routeId, spell }] of this.#letters)
      if (here && failedAt < createdAt && routeId === (query.routeId ?? routeId)) set.set(entryId, spell);
    const job: KnownJob = {
      document,
      set,
      came: this.#came,
      fetched: new Set(),
      gone: new Set(),
      marked: new Map(),
      mostAtOnce: 0,
      handovers: 0,
      lastOwner: undefined,
      unawareUntil: -1,
      again: new Map(),
      trashed: 0,
    };
    this.#jobs.set(id, job);
    return job;
  }

  #hold(job: KnownJob, before: Job, { owner, state }: Job): void {
    if (before.owner?.holder !== owner?.holder || before.state !== state) {
      const unawareMs = Math.max(LEAST_UNAWARE_MS, this.#options.ttlMs * DRIFT);
      // Who gives it up, or obeys, knows that.
      if (before.owner !== undefined && owner !== undefined && before.owner.holder !== owner.holder)
        job.unawareUntil = this.#options.now() + unawareMs;
    }
    if (owner === undefined || owner.instanceId === job.lastOwner) return;
    if (job.lastOwner !== undefined) job.handovers++;
    job.lastOwner = owner.instanceId;
  }

  #count(job: KnownJob, before: Job, { id, kind, counts, total, attempt, state }: Job): void {
    const { violated } = this.#options;
    const { succeeded, failed, skipped, restored, present = 0 } = counts;
    if (succeeded + failed + skipped > total)
      violated(`${id} has ${total} entries, and has done ${succeeded + failed + skipped}`);
    if (isOver(before.state) && before.state !== state && state !== "undoing")
      violated(`${id} was ${before.state}, and is ${state}`);
    if (restored + present > job.trashed)
      violated(`${id} has taken ${restored + present} entries back, and has had ${job.trashed}`);
    if (kind !== "redrive") return;
    if (succeeded > job.gone.size)
      violated(`${id} counts ${succeeded} entries as delivered, and ${job.gone.size} dead letters are gone`);
    const marked = job.marked.get(attempt) ?? new Set();
    const provable = new Set([...marked, ...job.gone]).size;
    if (failed > marked.size && failed > provable)
      violated(`${id} counts ${failed} entries as failed, and ${provable} are marked or gone`);
  }

  /** What it was planned for and is still there has been tried; what a purge was for is gone. */
  #isComplete({ document, set, came, marked }: KnownJob): void {
    const { id, kind, attempt, until, lanes, counts } = document;
    // A purge takes no more than it has counted, the oldest first: of clocks that differ, others may have come into their place.
    const left = this.#options.redrives ? counts.skipped : 0;
    let joined = kind === "purge" ? this.#joined(document, came) + left : 0;
    const routes = new Set(lanes.map(({ routeId }) => routeId));
    const tried = marked.get(attempt) ?? new Set<string>();
    for (const [entryId, spell] of set) {
      const letter = this.#letters.get(entryId);
      if (letter?.here !== true || letter.spell !== spell) continue;
      const { failedAt } = letter;
      const isBehind =
        until !== undefined && (failedAt > until.failedAt || (failedAt === until.failedAt && entryId > until.id));
      if (isBehind || (kind === "redrive" && (!routes.has(letter.routeId) || tried.has(entryId)))) continue;
      if (joined-- > 0) continue;
      this.#options.violated(
        `${id} is completed, and entry ${entryId} ${kind === "redrive" ? "was not tried" : "is there"}`,
      );
    }
  }

  /** How many have come since then that count as older. */
  #joined({ createdAt, query }: Job, since: number): number {
    let joined = 0;
    for (const { failedAt, routeId, came } of this.#letters.values())
      if (came > since && failedAt < createdAt && routeId === (query.routeId ?? routeId)) joined++;
    return joined;
  }

  #replay(job: KnownJob, jobId: string, attempt: number, entryId: string, spell: number): Replay {
    const envelopeId = envelopeIdOf(jobId, attempt, entryId);
    const there = this.#replays.get(envelopeId);
    if (there !== undefined) return there;
    const replay: Replay = {
      job,
      attempt,
      entryId,
      spell,
      licensed: new Set(),
      legs: new Map(),
      markedBy: undefined,
    };
    this.#replays.set(envelopeId, replay);
    return replay;
  }
}

/** As the manual has it: made from job, entry and try. */
function envelopeIdOf(jobId: string, attempt: number, entryId: string): string {
  return hash("sha256", JSON.stringify(["replay", jobId, entryId, attempt]), "base64url").slice(0, 32);
}
