import { BridgeError, type DeadLetter, type Envelope, type OutboxRecord } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import { markOf, replayIn } from "../dlq/failed-replay.ts";
import { OperationError } from "../operation-error.ts";
import type { Failures } from "../route/failures.ts";
import { deadLetterId } from "../route/identity.ts";
import { refusal } from "../route/obstacle.ts";
import { type LegOutcome, type Outcome, summarise } from "../route/outcome.ts";
import type { RouteParts } from "../route/route-parts.ts";
import { SharedOutbox } from "../route/shared-outbox.ts";
import { stopped } from "../stopped.ts";
import type { MovedAs } from "./dead-letter-record.ts";
import { Drain } from "./drain.ts";
import { EntryFates, type EntryWatch } from "./entry-fates.ts";
import { OutboxDepth } from "./outbox-depth.ts";
import { RecordOutcomes } from "./record-outcomes.ts";

export interface RouteOutboxOptions {
  readonly parts: RouteParts;
  readonly failures: Failures;
}

/** The outcome of an injected message whose legs went into the outbox. */
export interface DrainedOutcome extends Outcome {
  readonly warning?: string;
  /** Of a redrive: every record is that of another redrive. */
  readonly unsent?: true;
  /**
   * Whether the drain of this redrive deletes the dead letter: false for a duplicate of another redrive, and when a
   * drain found it gone.
   */
  readonly entryMayBeGone?: boolean;
}

/** How long to wait for the DLQ to say whether it has an entry. */
const ENTRY_TIMEOUT_MS = 5_000;

const DUPLICATE_WARNING =
  "the outbox has seen this message id with this payload before, so it sent nothing; use another id to send the message again";

/** The outbox as one route of mode `shared_outbox` uses it: the way in, a drain for each binding, and the waiters. */
export class RouteOutbox implements Disposable {
  readonly handover: SharedOutbox;
  readonly drains: ReadonlyMap<string, Drain>;
  readonly #options: RouteOutboxOptions;
  readonly #depth: OutboxDepth;
  readonly #outcomes = new RecordOutcomes();
  readonly #entries = new EntryFates();
  readonly #givenUp = new AbortController();
  /** Aborts when the route is over: nothing here learns any more how records end. */
  readonly #over = new AbortController();

  constructor(options: RouteOutboxOptions) {
    const { parts, failures } = options;
    const store = parts.outbox;
    this.#options = options;
    this.#depth = new OutboxDepth(parts.config.policy.maxOutboxDepth);
    // Count what a former runtime left. What a former process left is counted when the outbox opens.
    for (const { account } of parts.targets.values()) this.#depth.found(account.inOutbox);
    const [depth, outcomes, entries, givenUp] = [this.#depth, this.#outcomes, this.#entries, this.#givenUp.signal];
    const shared = { parts, store, depth, outcomes, entries, givenUp };
    this.drains = new Map([...parts.targets].map(([id, target]) => [id, new Drain({ ...shared, target })]));
    this.handover = new SharedOutbox({
      parts,
      failures,
      store,
      depth,
      givenUp,
      wake: (bindingId) => this.drains.get(bindingId)?.wake(),
    });
  }

  /** The store that refuses a necessary read or write, in words; `undefined` while none does. */
  get obstacle(): string | undefined {
    const { failure } = this.handover;
    if (failure !== undefined) return refusal("outbox", failure);
    for (const { obstacle } of this.drains.values()) if (obstacle !== undefined) return obstacle;
    return undefined;
  }

  /**
   * Why messages wait, or would have to, until there is room or the store takes writes, in words; `undefined` while
   * they need not.
   */
  get full(): string | undefined {
    if (this.handover.full) {
      const { depth, max } = this.#depth;
      return `the outbox is full: max_outbox_depth is ${max}, records not delivered yet: ${depth}`;
    }
    // The refused caller may have left, and then no waiting message shows the fault.
    const fault = this.#options.parts.outbox()?.health?.().fault;
    return fault === undefined || this.obstacle !== undefined ? undefined : `the outbox store takes nothing: ${fault}`;
  }

  /** The outbox has been opened and holds `depth` records that a former process left. */
  recovered(bindingId: string, depth: number): void {
    // Records of a binding that the route no longer has take no room.
    if (this.drains.has(bindingId)) this.#depth.found(depth);
  }

  /** An operator moved a record to the DLQ: frees its room and its key. */
  left({ id, bindingId }: OutboxRecord, as: MovedAs, own: boolean): void {
    this.#outcomes.ended(id, { disposition: as });
    const drain = this.drains.get(bindingId);
    // Records of a binding that the route no longer has take no room.
    if (drain === undefined) return;
    if (own) this.#depth.give(1);
    drain.left(id);
  }

  /** Resolves when no record is left, or `signal` aborts. */
  async emptied(signal: AbortSignal): Promise<void> {
    while (this.#depth.depth > 0 && !signal.aborted) await this.#depth.changed(signal);
  }

  async quiesce(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.drains.values()].map((drain) => drain.quiesce(signal)));
  }

  /** Ends every wait for the store: the time for cancelled work is over. */
  giveUp(): void {
    this.#givenUp.abort(new BridgeError("TIMEOUT", "the outbox store did not answer before the stop"));
  }

  [Symbol.dispose](): void {
    this.#over.abort(stopped());
    for (const drain of this.drains.values()) drain[Symbol.dispose]();
  }

  /** @throws OperationError `pending` while a record redrives this dead letter, `unavailable` when that cannot be known */
  async refuseSecondRedrive(entryId: string, signal: AbortSignal): Promise<void> {
    const store = this.#options.parts.outbox();
    if (store === undefined) throw new OperationError("unavailable", "the outbox store is not open");
    if ((await store.redriving(entryId, signal)) !== undefined) throw stillPending();
  }

  /** Whether a record redrives this dead letter; false if the outbox is not open. */
  async redrives(entryId: string, signal: AbortSignal): Promise<boolean> {
    return (await this.#options.parts.outbox()?.redriving(entryId, signal)) !== undefined;
  }

  /** Watches what drains do from now on with a dead letter that is being redriven. */
  watchEntry(entryId: string): EntryWatch {
    return this.#entries.watch(entryId);
  }

  /**
   * Waits until every leg that went into the outbox has left it, so that the result is about delivery.
   * @throws OperationError `pending` when `signal` aborts or the route is over first; the outbox carries on
   */
  async drained(
    received: Envelope,
    outcome: Outcome,
    redriven: EntryWatch | undefined,
    signal: AbortSignal,
  ): Promise<DrainedOutcome> {
    const { parts } = this.#options;
    const store = this.#options.parts.outbox();
    const records = outcome.records ?? [];
    const seen = records.some((leg) => leg.disposition === "duplicate");
    const inOutbox = outcome.disposition === "persisted" || outcome.disposition === "duplicate";
    // Keep the gravest outcome of the legs that ended before: a duplicate beside it does not make up for it.
    const before = inOutbox ? [] : [{ ...outcome, bindingId: "" }];
    const waiting = AbortSignal.any([signal, this.#over.signal]);
    const legs = await Promise.all(
      records.map(async ({ recordId, bindingId, disposition }): Promise<LegOutcome> => {
        if (recordId === undefined || store === undefined) return { disposition: "abandoned", bindingId };
        const ended = await this.#outcomes.of(recordId, store, parts.clock, waiting).catch((error: unknown) => {
          throw waiting.aborted ? stillPending() : BridgeError.from(error);
        });
        if (ended === undefined) return { disposition: "abandoned", bindingId };
        // Its dead letter has the envelope id of another redrive's message.
        const isOthers = redriven !== undefined && disposition === "duplicate";
        if (ended.elsewhere === true && !isOthers)
          return this.#givenUpElsewhere({ received, bindingId, redriven }, signal);
        return { ...ended, bindingId };
      }),
    );
    const failed = outcome.failedBindings.filter((id) => !legs.some((leg) => leg.bindingId === id));
    const { records: _, ...all } = summarise([...legs, ...before]);
    return {
      ...all,
      failedBindings: [...all.failedBindings, ...failed],
      ...(seen && { warning: DUPLICATE_WARNING }),
      ...(redriven !== undefined && seen && !records.some(isOwn) && { unsent: true }),
      ...(redriven !== undefined && { entryMayBeGone: !seen && !redriven.deletedByOthers }),
    };
  }

  /**
   * Another instance gave the record up: dead-lettered if the entry exists, or if the original has a mark, which gives
   * the reason.
   */
  async #givenUpElsewhere(
    leg: { readonly received: Envelope; readonly bindingId: string; readonly redriven: EntryWatch | undefined },
    signal: AbortSignal,
  ): Promise<LegOutcome> {
    const { received, bindingId, redriven } = leg;
    const { dlq, config, clock } = this.#options.parts;
    const replay = replayIn(received, redriven?.entryId);
    const id = deadLetterId(config.id, bindingId, received);
    using bound = deadline(clock, ENTRY_TIMEOUT_MS, new Error("the DLQ did not answer"));
    const asking = AbortSignal.any([signal, bound.signal]);
    try {
      const get = (asked: string): Promise<DeadLetter | undefined> =>
        orAborted(dlq()?.get(asked, asking) ?? Promise.resolve(undefined), asking);
      const mark = replay && markOf(await get(replay.entryId), replay);
      if (mark !== undefined)
        return { disposition: "dead_lettered", error: new BridgeError(mark.lastCode, mark.lastError), bindingId };
      const entry = await get(id);
      if (entry === undefined) return { disposition: "dropped", bindingId };
      return { disposition: "dead_lettered", error: new BridgeError(entry.errorCode, entry.lastError), bindingId };
    } catch {
      return { disposition: "dead_lettered", bindingId };
    }
  }
}

function isOwn({ disposition }: LegOutcome): boolean {
  return disposition === "persisted";
}

function stillPending(): OperationError {
  return new OperationError("pending", "the message is still pending in the outbox, which goes on delivering it");
}
