import type { DeadLetterHead } from "@bridge/ports";
import { deadline } from "@bridge/ports/internal";
import { DELETE_TIMEOUT_MS } from "../dlq/attempt.ts";
import { deleteDelivered } from "../dlq/delete-delivered.ts";
import type { FailedAhead } from "./failed-ahead.ts";
import { doneOf, type Job } from "./job.ts";
import type { JobRun } from "./job-run.ts";
import type { Lane } from "./lane.ts";
import type { PendingEntries } from "./pending-entries.ts";
import type { RedriveBook } from "./redrive-book.ts";
import type { ReplayOutcome } from "./replay-outcome.ts";

/** An entry of which nobody can say what became of it comes again so often. */
const MAX_DOUBTS = 3;
/** Between two tries to delete what is delivered. */
const PAUSE_MS = 1_000;

type Back = ReplayOutcome & { readonly kind: "back" };
type Failed = ReplayOutcome & { readonly kind: "failed" };

export interface EntryEndsOptions {
  readonly run: JobRun;
  readonly book: RedriveBook;
  readonly failed: FailedAhead;
  readonly pending: PendingEntries;
}

/** What the entries that were carried have come to: each is counted and settled in its lane, or comes again. */
export class EntryEnds {
  readonly #options: EntryEndsOptions;
  readonly #doubts = new Map<string, number>();
  /** Delivered and not deleted, with their lanes. */
  readonly #undeleted = new Map<string, Lane>();

  constructor(options: EntryEndsOptions) {
    this.#options = options;
  }

  /** How many are delivered and not deleted. */
  get undeleted(): number {
    return this.#undeleted.size;
  }

  ended(lane: Lane, head: DeadLetterHead, outcome: ReplayOutcome): void {
    const { run, book, failed, pending } = this.#options;
    if (lane.isRest && isMet(outcome, run.job)) return lane.reader.settle(head);
    switch (outcome.kind) {
      case "back":
        return this.#back(lane, head, outcome);
      case "undeleted":
        this.#undeleted.set(head.id, lane);
        return lane.giveBack(head, outcome.why);
      case "pending":
        pending.add(head, outcome.late);
        break;
      case "failed":
        this.#failed(lane, head, outcome);
        break;
      case "succeeded":
      case "skipped":
        // What is not there any more somebody was let delete.
        run.waits.writes.took();
        book.count(outcome.kind, lane);
        if (outcome.kind === "succeeded") book.attempted(false);
    }
    this.#doubts.delete(head.id);
    this.#undeleted.delete(head.id);
    lane.reader.settle(head);
    failed.forgetPassed();
  }

  /**
   * The job goes out of hand: what is there then is sent again by whoever goes on with it, in another process. Until its store takes
   * the job, it stays in hand, so that there is time.
   */
  async deleteDelivered(): Promise<void> {
    const { run, book } = this.#options;
    while (this.#undeleted.size > 0) {
      await run.checkpoint();
      const isTaken = run.hold.isStored;
      await this.#deleteWhatIsDelivered();
      if (isTaken || !run.isHeld || run.cut.aborted) break;
      await run.parts.clock.delay(PAUSE_MS, run.cut).catch(() => {});
    }
    if (this.#undeleted.size === 0) return;
    book.doubt(this.#undeleted.size);
    this.#undeleted.clear();
    // Some of it may be deleted all the same, and only the answer lost.
    run.job = { ...run.job, uncounted: true };
  }

  async #deleteWhatIsDelivered(): Promise<void> {
    const { run, book } = this.#options;
    const { parts, store } = run;
    using limit = deadline(parts.clock, DELETE_TIMEOUT_MS, new Error("the DLQ store did not answer"));
    const ids = [...this.#undeleted.keys()];
    for (const id of await deleteDelivered({ store, delivered: parts.delivered, ids }, limit.signal)) {
      book.count("succeeded", this.#undeleted.get(id));
      this.#undeleted.delete(id);
    }
  }

  #back(lane: Lane, head: DeadLetterHead, { why, inDoubt }: Back): void {
    const { run, book } = this.#options;
    lane.giveBack(head, why);
    if (!inDoubt) return;
    book.doubt(1);
    const doubts = (this.#doubts.get(head.id) ?? 0) + 1;
    this.#doubts.set(head.id, doubts);
    // It may have been sent each time: an operator has to look.
    if (doubts > MAX_DOUBTS) run.halt({ why: "failure_ratio", failed: doubts, attempts: doubts }, why);
  }

  #failed(lane: Lane, head: DeadLetterHead, { failure, before }: Failed): void {
    const { book, failed } = this.#options;
    if (!failed.add(head.id, lane)) return;
    book.countFailure(lane, head, failure);
    if (!before) book.attempted(true, failure.error);
  }
}

/** Of one that is looked for in the end: whether its own lane had met it, or it is gone. An index may lag. */
function isMet(outcome: ReplayOutcome, { plan, counts, total }: Job): boolean {
  if (outcome.kind === "skipped") return true;
  if (outcome.kind !== "failed" || !outcome.before) return false;
  return outcome.of !== undefined || (plan.exact && doneOf(counts) >= total);
}
