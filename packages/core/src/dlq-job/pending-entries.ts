import type { DeadLetter, DeadLetterHead } from "@bridge/ports";
import { isSpoiled } from "@bridge/ports/internal";
import { REPLAY_TIMEOUT_MS } from "../dlq/attempt.ts";
import { askStore } from "../dlq/ensure-marked.ts";
import type { FailedAhead } from "./failed-ahead.ts";
import type { JobRun } from "./job-run.ts";
import { leftInOutbox } from "./left-in-outbox.ts";
import type { Lane } from "./lane.ts";
import type { RedriveBook } from "./redrive-book.ts";
import { replayContextOf } from "./replay-context.ts";
import { failSpoiled, fetchEntry, replayEntry, type ReplayOutcome } from "./replay-outcome.ts";

/** Entries that are in the outbox for longer than their replay; further ones wait. */
const MAX_PENDING = 128;
/** Entries that are looked at in one beat. */
const LOOKED_AT = 16;
/** Between two looks while the job comes to stand still. */
const LOOK_MS = 250;

export interface PendingEntriesOptions {
  readonly run: JobRun;
  readonly book: RedriveBook;
  readonly failed: FailedAhead;
  readonly lanes: readonly Lane[];
}

/**
 * Entries that are in the outbox for longer than their replay, or that a former owner has put there. It deletes what it delivers, and
 * marks what it gives up.
 */
export class PendingEntries {
  readonly #options: PendingEntriesOptions;
  /** Of those of a former owner, whose loans may have to end first: what they come to says of the target what an attempt does. */
  readonly #untold = new Set<string>();
  /** What an owner that was killed has left there, as it was found when the job came to stand still. */
  readonly #adopted = new Set<string>();
  /** Those that have had their time here. */
  readonly #late = new Set<string>();

  constructor(options: PendingEntriesOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    return this.#ids.length >= MAX_PENDING;
  }

  /** Whether it is there, or was, and is counted by now: whoever comes to it in its lane passes it. */
  knows(id: string): boolean {
    return this.#ids.includes(id) || this.#adopted.has(id);
  }

  /** How many are there of which neither an attempt nor its end has been counted. */
  get untold(): number {
    return this.#untold.size;
  }

  /** `late`: it has had its time, which counts as an attempt that failed. */
  add({ id }: DeadLetterHead, late: boolean): void {
    if (this.knows(id)) return;
    this.#ids = [...this.#ids, id];
    if (late) {
      this.#late.add(id);
      this.#options.book.attempted(true, "the message is still pending in the outbox");
    } else this.#untold.add(id);
  }

  /** Looks what has become of some of them. */
  async look(): Promise<void> {
    const { run } = this.#options;
    for (const id of this.#ids.slice(0, LOOKED_AT)) {
      if (!run.goesOn) return;
      await this.#lookAt(id);
    }
  }

  /** The job is to stand still: what a former owner has put into the outbox has its time to settle, as what this one sends has. */
  async settle(): Promise<void> {
    const { run } = this.#options;
    const { clock } = run.parts;
    const until = clock.monotonic() + REPLAY_TIMEOUT_MS;
    if (run.standsStill && run.job.uncounted === true) this.#adopt(await leftInOutbox(run));
    const isOver = (): boolean => !run.standsStill || clock.monotonic() > until;
    while (!isOver()) {
      for (const id of this.#ids) if (!isOver()) await this.#lookAt(id);
      if (this.#ids.every((id) => this.#late.has(id))) return;
      await clock.delay(LOOK_MS, run.cut).catch(() => {});
    }
  }

  /** Their lanes have not passed them, and may have read them already. */
  #adopt(found: readonly string[]): void {
    const ids = found.filter((id) => !this.knows(id)).slice(0, Math.max(0, MAX_PENDING - this.#ids.length));
    this.#ids = [...this.#ids, ...ids];
    for (const id of ids) this.#adopted.add(id);
  }

  get #ids(): readonly string[] {
    return this.#options.run.job.pending;
  }

  set #ids(pending: readonly string[]) {
    const { run } = this.#options;
    run.job = { ...run.job, pending };
  }

  async #lookAt(id: string): Promise<void> {
    const { run } = this.#options;
    const { busy, standing } = run.parts;
    if (busy.has(id)) return;
    busy.add(id);
    try {
      const context = replayContextOf(run);
      const entry = await fetchEntry(context, { id });
      if (isSpoiled(entry)) return this.#ended(id, await failSpoiled(context, id, entry));
      if ("kind" in entry) {
        const of = entry.kind === "failed" ? entry.of : undefined;
        return this.#ended(id, entry.kind === "skipped" ? await this.#skipped(entry) : entry, of);
      }
      if (!run.goesOn) return;
      // Nothing is sent while it is in the outbox, and what that has delivered is only deleted.
      if (standing(entry.routeId).kind === "ready") this.#ended(id, await replayEntry(context, entry), entry);
    } finally {
      busy.delete(id);
    }
  }

  /** What is gone was delivered. What is kept back goes on in the outbox as long as that has it, and is sent by nobody after that. */
  async #skipped({ keptBack }: ReplayOutcome & { readonly kind: "skipped" }): Promise<ReplayOutcome> {
    const { parts, cut: signal } = this.#options.run;
    if (keptBack === undefined) return { kind: "succeeded" };
    const asking = askStore({ clock: parts.clock, signal }, (bound) => parts.redrives(keptBack, bound));
    const isThere = await asking.catch(() => undefined);
    if (isThere === undefined)
      return { kind: "back", why: "the outbox does not tell whether it has it", inDoubt: false };
    return isThere ? { kind: "pending", late: false } : { kind: "skipped" };
  }

  #ended(id: string, outcome: ReplayOutcome, entry?: DeadLetter): void {
    const { run, book, failed, lanes } = this.#options;
    const others = this.#ids.filter((other) => other !== id);
    const stays = outcome.kind === "pending" || outcome.kind === "back" || outcome.kind === "undeleted";
    // Others are looked at first the next time.
    this.#ids = stays ? [...others, id] : others;
    if (stays) return;
    this.#late.delete(id);
    const tells = this.#untold.delete(id);
    const own = lanes.find(({ routeId }) => routeId === entry?.routeId);
    const lane = own ?? lanes[0];
    if (outcome.kind !== "failed") {
      run.waits.writes.took();
      book.count(outcome.kind, lane);
      if (tells && outcome.kind === "succeeded") book.attempted(false);
      return;
    }
    book.countFailure(lane, entry ?? { id, routeId: lane?.routeId ?? "", bindingId: "" }, outcome.failure);
    if (entry !== undefined && own !== undefined) failed.counted(entry, own);
    if (tells) book.attempted(true, outcome.failure.error);
  }
}
