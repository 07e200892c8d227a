import {
  BridgeError,
  type ClaimEnd,
  type Clock,
  type DlqStore,
  type OutboxClaim,
  type OutboxRecord,
  type OutboxStore,
} from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import { DeadLetterWriter } from "../dlq/dead-letter-writer.ts";
import { markOf, replayIn } from "../dlq/failed-replay.ts";
import { originalOf } from "../hooks/shown-error.ts";
import { backoffDelay } from "../route/backoff.ts";
import { deadLetterOf } from "../route/dead-letter.ts";
import { decide } from "../route/decide.ts";
import { dropped } from "../route/failures.ts";
import type { RouteParts, Target } from "../route/route-parts.ts";
import { traceFieldsOf } from "../trace/trace-fields.ts";
import type { EntryFates } from "./entry-fates.ts";
import { legsOf } from "./leg-ids.ts";
import type { RecordOutcome } from "./record-outcomes.ts";
import { Undeadlettered } from "./undeadlettered.ts";

export const DELETE_TIMEOUT_MS = 5_000;
export const STATUS_TIMEOUT_MS = 5_000;
/** A record whose dead letter could not be written is tried again within this time, unless another instance ends it. */
const TRIED_AGAIN_MS = 60_000;

/** The verdict on a claim: what to tell the store, and how the record ended if it did. */
export interface Verdict {
  readonly end: ClaimEnd["outcome"];
  readonly outcome?: RecordOutcome;
}

const DELIVERED: Verdict = { end: { kind: "done" }, outcome: { disposition: "delivered" } };

/** Returns the claim unchanged: nothing was tried, so nothing is charged. */
export function giveBack(attempts: number): Verdict {
  return { end: { kind: "retry", delayMs: 0, attempts } };
}

export interface VerdictParts {
  readonly parts: RouteParts;
  readonly target: Target;
  readonly entries: EntryFates;
  /** Aborts when stores are no longer waited for. */
  readonly givenUp: AbortSignal;
}

/** Reaches the verdicts on the claims of one route and binding, and carries out the failure policy. */
export class ClaimVerdicts {
  readonly #parts: RouteParts;
  readonly #target: Target;
  readonly #entries: EntryFates;
  readonly #givenUp: AbortSignal;
  readonly #writer: DeadLetterWriter;
  /** The records whose dead letter could not be written, and which are tried again. */
  readonly undeadlettered: Undeadlettered;

  constructor({ parts, target, entries, givenUp }: VerdictParts) {
    this.#parts = parts;
    this.#target = target;
    this.#entries = entries;
    this.#givenUp = givenUp;
    this.#writer = new DeadLetterWriter(parts);
    this.undeadlettered = new Undeadlettered(parts.clock);
  }

  /** The target accepted the record. If it redrove a dead letter, that is deleted. */
  accepted({ record }: OutboxClaim): Verdict | Promise<Verdict> {
    this.#enterAges(record);
    const { entryId } = record;
    return entryId === undefined ? DELIVERED : this.#takeEntryAlong(record, entryId).then(() => DELIVERED);
  }

  /**
   * Ends a redrive whose dead letter already carries the mark of this redrive's failure: whoever marked it stopped
   * before telling the outbox, and the record must not be sent again. `undefined` for any other record, and while the
   * DLQ does not answer, because no mark is known then.
   */
  async givenUpBefore({ id, envelope, received = envelope, entryId }: OutboxRecord): Promise<Verdict | undefined> {
    const { clock, dlq } = this.#parts;
    // With several legs, any of them may have left the mark, so it says nothing about the others.
    const replay = legsOf(id) === undefined ? replayIn(received, entryId) : undefined;
    const store = dlq();
    if (replay === undefined || store === undefined) return undefined;
    using bound = deadline(clock, STATUS_TIMEOUT_MS, () => new Error("the DLQ store did not answer"));
    const signal = AbortSignal.any([bound.signal, this.#givenUp]);
    const entry = await orAborted(store.get(replay.entryId, signal), signal).catch(() => undefined);
    const mark = markOf(entry, replay);
    if (mark === undefined) return undefined;
    const error = new BridgeError(mark.lastCode, mark.lastError);
    return { end: { kind: "dead" }, outcome: { disposition: "dead_lettered", error } };
  }

  /**
   * The record's end is durable. Checks the dead letter again: two legs that end together do not see each other's end
   * beforehand.
   */
  async entered(record: OutboxRecord): Promise<void> {
    const { id, entryId } = record;
    if (entryId !== undefined && legsOf(id) !== undefined) await this.#takeEntryAlong(record, entryId);
  }

  /** Deletes the dead letter if this is the last leg of its redrive. If that is not known, the dead letter stays. */
  async #takeEntryAlong(record: OutboxRecord, entryId: string): Promise<void> {
    const others = legsOf(record.id)?.filter((leg) => leg !== record.id) ?? [];
    if (await areDone(this.#parts.clock, others, this.#parts.outbox(), this.#givenUp))
      await this.#deleteEntry(record, entryId);
  }

  async #deleteEntry({ envelope }: Pick<OutboxRecord, "envelope">, entryId: string): Promise<void> {
    const { dlq, failureLog, tracer } = this.#parts;
    try {
      this.#entries.told(entryId, await deleteEntry(this.#parts.clock, dlq(), entryId, this.#givenUp));
    } catch (error) {
      failureLog.notDeleted(entryId, BridgeError.from(error), traceFieldsOf(envelope.headers, tracer !== undefined));
    }
  }

  /**
   * Judges a record that failed or may not be sent. When `work` aborts, a record that could not be dead-lettered yet
   * goes back uncharged.
   */
  async failed(claim: OutboxClaim, error: BridgeError, work: AbortSignal): Promise<Verdict> {
    const { record, attempts: before } = claim;
    const { clock, random, config, failureLog, hooks, tracer } = this.#parts;
    const attempts = before + (error.charged ? 1 : 0);
    const facts = { attempt: attempts, ageMs: Math.max(0, clock.now() - record.createdAt) };
    this.#target.account.fail(error, clock.monotonic());
    const decision = decide(error, facts, config.policy, () => random.next());
    const { envelope } = record;
    const trace = traceFieldsOf(envelope.headers, tracer !== undefined);
    const { bindingId } = this.#target;
    const leg = { bindingId, envelopeId: envelope.id, error, trace };
    if (error.charged && error.class !== "filtered") {
      const received = record.received ?? envelope;
      hooks.attemptFailed({
        routeId: config.id,
        bindingId,
        received,
        error: originalOf(error),
        attempt: attempts,
      });
    }
    switch (decision.kind) {
      case "retry":
        failureLog.triedInVain(leg, attempts, decision.delayMs);
        return { end: { kind: "retry", delayMs: decision.delayMs, attempts } };
      case "drop":
      case "dlq": {
        const received = record.received ?? record.envelope;
        const failedAt = clock.now();
        const entry = deadLetterOf({ received, routeId: config.id, bindingId, attempts, failedAt }, error);
        const replay = replayIn(received, record.entryId);
        const isKept = decision.kind === "dlq";
        // Write the entry first: the record may end only once its dead letter is durable.
        const writing = isKept
          ? this.#writer.write(entry, work, replay)
          : replay && this.#writer.mark(entry, work, replay);
        const failure = await writing;
        if (failure === undefined || failure === "gone") {
          if (!isKept) failureLog.dropped(leg, dropped(error));
          const disposition = isKept && failure !== "gone" ? "dead_lettered" : dropped(error);
          return { end: { kind: "dead" }, outcome: { disposition, error } };
        }
        if (work.aborted) return giveBack(before);
        const delayMs = backoffDelay(config.policy.backoff, Math.max(1, attempts), () => random.next());
        this.undeadlettered.add(record.id, failure, delayMs + config.policy.sendTimeoutMs + TRIED_AGAIN_MS);
        return { end: { kind: "retry", delayMs, attempts: before } };
      }
    }
  }

  /** Uses wall clocks, perhaps those of two processes, so ages are cut off at 0. */
  #enterAges({ createdAt, envelope }: OutboxRecord): void {
    const { account } = this.#target;
    const now = this.#parts.clock.now();
    account.outboxAge.observe(Math.max(0, now - createdAt));
    account.endToEnd.observe(Math.max(0, now - envelope.receivedAt));
  }
}

/** Whether all of the records are known to be delivered. */
async function areDone(
  clock: Clock,
  ids: readonly string[],
  store: OutboxStore | undefined,
  givenUp: AbortSignal,
): Promise<boolean> {
  using bound = deadline(clock, STATUS_TIMEOUT_MS, new Error("the outbox store did not answer"));
  const signal = AbortSignal.any([bound.signal, givenUp]);
  try {
    for (const id of ids) {
      if (store === undefined || (await orAborted(store.status(id, signal), signal)) !== "done") return false;
    }
    return true;
  } catch {
    return false;
  }
}

/** Returns whether the entry existed. */
async function deleteEntry(
  clock: Clock,
  store: DlqStore | undefined,
  id: string,
  givenUp: AbortSignal,
): Promise<boolean> {
  if (store?.admin === undefined) throw new BridgeError("UNAVAILABLE", "no DLQ store that can delete is open");
  using bound = deadline(clock, DELETE_TIMEOUT_MS, new Error("the DLQ store did not answer"));
  const bounded = AbortSignal.any([bound.signal, givenUp]);
  return (await orAborted(store.admin.delete([id], bounded, { delivered: true }), bounded)).has(id);
}
