import { hash } from "node:crypto";
import { BridgeError, type OutboxRecord, type OutboxStore, type PersistResult } from "@bridge/ports";
import { deadline, orAborted, payloadBytes } from "@bridge/ports/internal";
import type { Lease } from "../lease/lease.ts";
import { isAlike } from "../outbox/alike.ts";
import { legIds } from "../outbox/leg-ids.ts";
import type { OutboxDepth } from "../outbox/outbox-depth.ts";
import { TurnBatch } from "../outbox/turn-batch.ts";
import { traceFields } from "../trace/trace-fields.ts";
import { backoffDelay } from "./backoff.ts";
import type { Failures } from "./failures.ts";
import type { Handover } from "./handover.ts";
import { orderingKey } from "./identity.ts";
import { isWanted } from "./is-wanted.ts";
import { type EndedLeg, type LegOutcome, type Outcome, summarise } from "./outcome.ts";
import type { RouteParts, Target } from "./route-parts.ts";
import { unresolved } from "./unresolved.ts";
import type { Work } from "./work.ts";

/** The limit for one outbox write. A store that takes longer has failed, and the write is repeated. */
const PERSIST_TIMEOUT_MS = 30_000;

export interface SharedOutboxOptions {
  readonly parts: RouteParts;
  readonly failures: Failures;
  readonly store: () => OutboxStore | undefined;
  readonly depth: OutboxDepth;
  /** Aborts when a stop no longer waits for the store. */
  readonly givenUp: AbortSignal;
  /** Wakes the drain of a binding. */
  readonly wake: (bindingId: string) => void;
}

/** A leg to be written to the outbox. */
interface Entry {
  readonly target: Target;
  readonly record: OutboxRecord;
}

/**
 * Delivery mode `shared_outbox`: the source is settled once a record for each binding is durable; the drains deliver.
 * Idempotent by route, binding and envelope id, so that a redelivery by the source is a duplicate and not a repeat.
 */
export class SharedOutbox implements Handover {
  readonly #options: SharedOutboxOptions;
  /** The legs of a message are added in one turn and go in one write, so that all of them are durable or none. */
  readonly #batch: TurnBatch<OutboxRecord, PersistResult>;
  #waiting = 0;
  #failing = 0;
  #failure: BridgeError | undefined;

  constructor(options: SharedOutboxOptions) {
    this.#options = options;
    this.#batch = new TurnBatch(options.parts.clock, (records) => this.#persistAll(records), payloadBytes);
  }

  /** The drains observe acceptance. */
  readonly acceptedAt = undefined;
  /** None: the outbox takes messages for any instance that drains it. */
  readonly leases: readonly Lease[] = [];
  /** False while messages wait because the outbox is full or refuses writes. */
  get able(): boolean {
    return this.#waiting === 0 && !this.#options.depth.full;
  }

  /** Whether messages wait for room, or would have to. */
  get full(): boolean {
    return this.#options.depth.full || this.#waiting > this.#failing;
  }

  /** Why the outbox failed to take a message; `undefined` unless messages wait for that and not for room. */
  get failure(): BridgeError | undefined {
    return this.#failing > 0 ? this.#failure : undefined;
  }

  /** Whether other processes may drain the open store. */
  get #shared(): boolean {
    return this.#options.store()?.shared === true;
  }

  /** Nothing to do: a write that has begun runs to its end, so that its outcome is known. */
  cancel(): void {}

  [Symbol.dispose](): void {}

  async handOn(work: Work, targets: readonly Target[]): Promise<Outcome> {
    for (const target of targets) target.account.open(work.origin);
    work.targets = targets;
    const digest = hash("sha256", work.received.payload, "hex");
    const entries: Entry[] = [];
    const ended: LegOutcome[] = [];
    const ids = this.#idsFor(work, targets.length);
    for (const [index, target] of targets.entries()) {
      const record = this.#recordOf(work, target, digest, ids?.[index]);
      if (record instanceof BridgeError) ended.push(await this.#fail(work, target, record));
      else entries.push({ target, record });
    }
    const results = entries.length === 0 ? [] : await this.#persistFor(work, entries);
    // Refuse a message only if nothing of it was kept; once accepted in part, it follows the policy.
    const refused =
      work.delivery.refusable === true &&
      ended.length === 0 &&
      results?.every((result) => result.kind === "conflict" || result.kind === "refused") === true;
    let next = 0;
    for (const { target, record } of entries) {
      const { bindingId } = target;
      const result = results?.[next++];
      if (result === undefined) {
        target.account.close("abandoned", record.id);
        this.#remember(work, target, "abandoned");
        ended.push({ disposition: "abandoned", bindingId });
      } else if (result.kind === "persisted") {
        this.#options.wake(bindingId);
        ended.push({ disposition: "persisted", bindingId, recordId: record.id });
      } else if (result.kind === "duplicate") {
        target.account.close("duplicate", record.id);
        this.#remember(work, target, "duplicate");
        ended.push({ disposition: "duplicate", bindingId, recordId: result.id });
      } else {
        const error = result.kind === "refused" ? refusalOf(result.error) : conflict();
        ended.push(refused ? refuse(target, error, record.id) : await this.#fail(work, target, error, record.id));
      }
    }
    return summarise(ended);
  }

  /** Only for a redrive with several legs; other legs need not know of each other. */
  #idsFor(work: Work, legs: number): readonly string[] | undefined {
    return work.entry === undefined || legs === 1 ? undefined : legIds(this.#options.parts.random.id(), legs);
  }

  #recordOf(work: Work, target: Target, payloadDigest: string, legId: string | undefined): OutboxRecord | BridgeError {
    const { parts } = this.#options;
    try {
      return {
        id: legId ?? parts.random.id(),
        routeId: parts.config.id,
        bindingId: target.bindingId,
        address: target.address(work.envelope),
        envelope: work.envelope,
        received: work.envelope === work.received ? undefined : work.received,
        payloadDigest,
        entryId: work.entry?.id,
        orderingKey: orderingKey(work.received),
        createdAt: parts.clock.now(),
      };
    } catch (thrown) {
      parts.surprises.tell(`binding ${target.bindingId}`, thrown, { envelope_id: work.received.id });
      return unresolved("the address", thrown);
    }
  }

  /** Ends a leg that never entered the outbox, as the policy says. */
  async #fail(work: Work, target: Target, error: BridgeError, recordId?: string): Promise<EndedLeg> {
    const ended = await this.#options.failures.end(work, target.bindingId, error);
    target.account.close(ended.disposition, recordId);
    this.#remember(work, target, ended.disposition);
    return ended;
  }

  #remember(work: Work, { recentPlace }: Target, disposition: EndedLeg["disposition"]): void {
    const { recent, clock } = this.#options.parts;
    recent.legs.add(recentPlace, work.received.id, disposition, clock.monotonic());
  }

  #persistFor(work: Work, entries: readonly Entry[]): Promise<readonly PersistResult[] | undefined> {
    return work.entry === undefined ? this.#persist(work, entries) : this.#persistOnce(work, work.entry, entries);
  }

  /**
   * Of all redrives of one dead letter, wherever they are requested, one is in the outbox at a time; the others are its
   * duplicates. After one has failed, the next may enter; after one has delivered, none may.
   */
  async #persistOnce(
    work: Work,
    { id, failedAt }: NonNullable<Work["entry"]>,
    entries: readonly Entry[],
  ): Promise<readonly PersistResult[] | undefined> {
    for (let failed = 0; ; failed++) {
      // An edited message is a different one: that the others failed, or have another payload, says nothing about it.
      const next = entries.map(({ target, record }) => {
        const identity = JSON.stringify([id, failedAt, failed, record.payloadDigest]);
        return { target, record: { ...record, identity } };
      });
      const results = await this.#persist(work, next);
      if (results === undefined || !results.every(isFinished) || !results.some(isDead)) return results;
    }
  }

  /** Persists all legs together, however long that takes; `undefined` if the work was given up first. */
  async #persist(work: Work, entries: readonly Entry[]): Promise<readonly PersistResult[] | undefined> {
    const { parts, depth } = this.#options;
    const records = entries.map(({ record }) => record);
    let waiting = false;
    let failures = 0;
    try {
      while (!this.#isOver(work, waiting)) {
        const room = depth.tryTake(records.length);
        work.handedOut ||= room;
        if (room) for (const { target, record } of entries) target.account.writes(record.id);
        const results = room ? await this.#write(records) : undefined;
        if (results !== undefined && !BridgeError.is(results)) {
          const kept = this.#enter(entries, results);
          if (kept < records.length) depth.give(records.length - kept);
          return results.map((result, index) => ofThisTry(result, records[index]?.id));
        }
        if (!waiting) this.#waiting++;
        waiting = true;
        if (results === undefined) {
          await depth.changed(work.signal);
          continue;
        }
        depth.give(records.length);
        this.#tellFailure(work, results);
        if (++failures === 1) this.#failing++;
        this.#failure = results;
        const { backoff } = parts.config.policy;
        await work.pause(
          parts.clock,
          backoffDelay(backoff, failures, () => parts.random.next()),
        );
      }
      for (const { target, record } of entries) target.account.leave(record.id, this.#shared);
      return undefined;
    } finally {
      if (waiting) this.#waiting--;
      if (failures > 0) this.#failing--;
    }
  }

  /**
   * Whether the work is cancelled, or its caller left while it waited; the slot then goes to the next. Writing messages
   * for callers who have left would keep those behind waiting until they leave, too.
   */
  #isOver(work: Work, waited: boolean): boolean {
    const { config, surprises } = this.#options.parts;
    if ((waited || work.unbegun) && !isWanted(work.delivery, config.receiverId, surprises)) work.cancel();
    return work.cancelled;
  }

  /** Returns how many are in the outbox now. */
  #enter(entries: readonly Entry[], results: readonly PersistResult[]): number {
    let kept = 0;
    let next = 0;
    for (const { target, record } of entries) {
      const result = results[next++];
      const persisted = result !== undefined && ofThisTry(result, record.id).kind === "persisted";
      if (persisted && target.account.persist(record.id, result.kind === "persisted", this.#shared)) kept++;
    }
    return kept;
  }

  /**
   * Counts each failure. Logs the first of the route and any that differs from the last: while the store is down, all
   * fail alike.
   */
  #tellFailure(work: Work, error: BridgeError): void {
    const { account, logger } = this.#options.parts;
    account.outboxWriteFailures++;
    if (this.#failing > 0 && isAlike(this.#failure, error)) return;
    logger.error("outbox write failed: the message stays unsettled and is tried again", {
      code: error.code,
      error: error.message,
      ...traceFields(work.span?.context),
    });
  }

  /** Not cut off by cancellation: after half a write, nobody would know what the outbox holds. */
  #write(records: readonly OutboxRecord[]): Promise<readonly PersistResult[] | BridgeError> {
    const { results, first } = this.#batch.add(records);
    return results.then(
      (all) => all.slice(first, first + records.length),
      (thrown: unknown) => BridgeError.from(thrown),
    );
  }

  async #persistAll(records: readonly OutboxRecord[]): Promise<readonly PersistResult[]> {
    const { store: open, parts } = this.#options;
    const store = open();
    if (store === undefined) throw new BridgeError("UNAVAILABLE", "no outbox store is open");
    using limit = deadline(
      parts.clock,
      PERSIST_TIMEOUT_MS,
      () => new BridgeError("TIMEOUT", "the outbox store did not answer"),
    );
    const bounded = AbortSignal.any([limit.signal, this.#options.givenUp]);
    return await parts.storeCalls.outbox.during(orAborted(store.persist(records, bounded), bounded));
  }
}

/** A record of an earlier try of ours, whose answer we did not get, is no duplicate. */
function ofThisTry(result: PersistResult, id: string | undefined): PersistResult {
  return result.kind === "duplicate" && result.id === id ? { kind: "persisted" } : result;
}

function isFinished(result: PersistResult): boolean {
  return result.kind === "duplicate" && result.status !== "pending";
}

function isDead(result: PersistResult): boolean {
  return result.kind === "duplicate" && result.status === "dead";
}

/** The error for a record that the store will never take, however it classified that: a retry would not help. */
function refusalOf(told: BridgeError): BridgeError {
  const error = BridgeError.from(told);
  return error.class === "transient" ? new BridgeError("REJECTED", error.message, { cause: error }) : error;
}

function conflict(): BridgeError {
  return new BridgeError("ID_CONFLICT", "another payload has been accepted under this message id");
}

/** Refuses the message to a caller that waits for the answer (contract §8). */
function refuse({ account, bindingId }: Target, error: BridgeError, recordId: string): EndedLeg {
  account.close("released", recordId);
  return { disposition: "released", error, bindingId };
}
