import type { RoutePolicy } from "@bridge/config";
import type { BridgeError } from "@bridge/ports";
import { DeadLetterWriter } from "../dlq/dead-letter-writer.ts";
import { replayIn } from "../dlq/failed-replay.ts";
import { originalOf } from "../hooks/shown-error.ts";
import { traceFields } from "../trace/trace-fields.ts";
import { AttemptLedger, type AttemptRecord } from "./attempt-ledger.ts";
import { backoffDelay } from "./backoff.ts";
import { deadLetterOf } from "./dead-letter.ts";
import { decide } from "./decide.ts";
import { orderingKey, stableIdentity } from "./identity.ts";
import type { EndedLeg } from "./outcome.ts";
import type { RouteParts } from "./route-parts.ts";
import type { Work } from "./work.ts";

/** How many messages of one route have their attempts remembered across redeliveries. */
const LEDGER_CAPACITY = 10_000;

/** By identity of the message, then by binding. */
type Ledger = AttemptLedger<Map<string, AttemptRecord>>;

/** Counts the attempts of one leg while the bridge holds its message: contract §5. */
export class Attempts {
  /** Of the ledger: the identity of the message. */
  readonly key: string | undefined;
  /** Attempts charged before this hold. */
  readonly before: number;
  readonly since: number;
  /** Whether the count, and the age if it matters, survives a redelivery by the source. */
  readonly lasting: boolean;
  charged = 0;

  constructor(work: Work, bindingId: string, ledger: Ledger, policy: RoutePolicy) {
    const { receiveCount } = work.delivery;
    // A source that counts says how often it has handed a message out, but not since when.
    const told = receiveCount !== undefined && policy.replayBudgetMs === 0;
    const key = told ? undefined : stableIdentity(work.received);
    this.key = key;
    // A first delivery is not the message that had this id before.
    const record = key === undefined || receiveCount === 1 ? undefined : ledger.get(key)?.get(bindingId);
    this.before = receiveCount === undefined ? (record?.attempts ?? 0) : Math.max(0, receiveCount - 1);
    this.since = record?.since ?? work.startedAt;
    this.lasting = told || key !== undefined;
  }

  get total(): number {
    return this.before + this.charged;
  }
}

/** Carries out the failure policy of one route. */
export class Failures {
  readonly #parts: RouteParts;
  readonly #ledger: Ledger = new AttemptLedger(LEDGER_CAPACITY);
  readonly writer: DeadLetterWriter;
  #waitingForDlq = 0;
  #dlqFailure: BridgeError | undefined;

  constructor(parts: RouteParts) {
    this.#parts = parts;
    this.writer = new DeadLetterWriter(parts);
  }

  /** Why dead letters cannot be written; `undefined` while no message waits for one. */
  get dlqFailure(): BridgeError | undefined {
    return this.#waitingForDlq > 0 ? this.#dlqFailure : undefined;
  }

  attemptsOf(work: Work, bindingId: string): Attempts {
    return new Attempts(work, bindingId, this.#ledger, this.#parts.config.policy);
  }

  /** The number of this hold's first attempt. Called for every message, so it skips an empty ledger. */
  firstAttempt(work: Work, bindingId: string): number {
    const { receiveCount } = work.delivery;
    if (receiveCount === 1 || (receiveCount === undefined && this.#ledger.size === 0)) return 1;
    return this.attemptsOf(work, bindingId).total + 1;
  }

  /**
   * Forgets the attempts at all bindings. Only once the source has been told: until then it may hand the message out
   * again, also for legs that have ended.
   */
  forget({ received }: Work): void {
    if (this.#ledger.size === 0) return;
    const key = stableIdentity(received);
    if (key !== undefined) this.#ledger.evict(key);
  }

  /** Charges a failed attempt, unless nothing was tried. `thrown`: the original error, if `error` does not carry it. */
  charge(work: Work, bindingId: string, error: BridgeError, attempts: Attempts, thrown = originalOf(error)): void {
    if (!error.charged) return;
    attempts.charged++;
    if (error.class === "filtered") return;
    const { config, hooks } = this.#parts;
    const { received } = work;
    hooks.attemptFailed({ routeId: config.id, bindingId, received, error: thrown, attempt: attempts.total });
  }

  /** Ends a leg after a final failure. @throws Error if the policy would retry it */
  async end(work: Work, bindingId: string, error: BridgeError): Promise<EndedLeg> {
    const ended = await this.after(work, bindingId, error, this.attemptsOf(work, bindingId));
    if (ended === "again") throw new Error(`${error.code} ends no message: it is tried again`);
    return ended;
  }

  /**
   * Handles a failed attempt, which `attempts.charged` already includes: waits and returns `"again"`, or returns how
   * the leg ends.
   */
  async after(work: Work, bindingId: string, error: BridgeError, attempts: Attempts): Promise<EndedLeg | "again"> {
    const { config, clock, random, failureLog } = this.#parts;
    if (work.cancelled) return { disposition: "abandoned", bindingId };
    const facts = { attempt: attempts.total, ageMs: clock.monotonic() - attempts.since };
    this.#count(bindingId, error);
    this.#remember(bindingId, attempts);
    const decision = decide(error, facts, config.policy, () => random.next());
    const leg = { bindingId, envelopeId: work.received.id, error, trace: traceFields(work.span?.context) };
    switch (decision.kind) {
      case "retry": {
        const { delayMs } = decision;
        failureLog.triedInVain(leg, attempts.total, delayMs);
        if (error.charged && this.#mayRelease(work, attempts))
          return { disposition: "released", delayMs, error, bindingId };
        await work.pause(clock, delayMs);
        return "again";
      }
      case "dlq": {
        const stored = await this.#store(work, bindingId, error, attempts.total);
        if (stored === "abandoned") return { disposition: "abandoned", bindingId };
        return { disposition: stored === "gone" ? dropped(error) : "dead_lettered", error, bindingId };
      }
      case "drop": {
        const disposition = dropped(error);
        failureLog.dropped(leg, disposition);
        return { disposition, error, bindingId };
      }
    }
  }

  #remember(bindingId: string, { key, total, since }: Attempts): void {
    if (key === undefined) return;
    const legs = this.#ledger.get(key) ?? new Map<string, AttemptRecord>();
    this.#ledger.record(key, legs.set(bindingId, { attempts: total, since }));
  }

  #count(bindingId: string, error: BridgeError): void {
    const { targets, unbound, account, clock } = this.#parts;
    const target = targets.get(bindingId);
    if (target !== undefined) target.account.fail(error, clock.monotonic());
    else unbound.fail(error, clock.monotonic(), account.handedOn);
  }

  /**
   * Whether a message whose attempt was charged may go back to its source for redelivery. Only a delivery that is one
   * unkeyed leg: releasing any other would repeat or reorder messages. Only if the attempts last: otherwise the message
   * would come back as new and never reach the cap or the age.
   */
  #mayRelease(work: Work, attempts: Attempts): boolean {
    return (
      work.delivery.releasable === true &&
      attempts.lasting &&
      this.#parts.config.dispatchMode === "single" &&
      orderingKey(work.received) === undefined
    );
  }

  /**
   * Writes the dead letter, with retries until it is durable. `abandoned`: the work was cancelled first. `gone`: this
   * was a redrive, and its dead letter no longer exists.
   */
  async #store(
    work: Work,
    bindingId: string,
    error: BridgeError,
    attempts: number,
  ): Promise<"gone" | "abandoned" | undefined> {
    const { config, clock, random } = this.#parts;
    const entry = deadLetterOf(
      { received: work.received, routeId: config.id, bindingId, attempts, failedAt: clock.now() },
      error,
    );
    const replay = replayIn(work.received, work.entry?.id);
    let failures = 0;
    try {
      while (!work.cancelled) {
        const failure = await this.writer.write(entry, work.signal, replay);
        if (failure === undefined || failure === "gone") return failure;
        if (++failures === 1) this.#waitingForDlq++;
        this.#dlqFailure = failure;
        const delayMs = backoffDelay(config.policy.backoff, failures, () => random.next());
        work.unmarked?.(failure);
        await work.pause(clock, delayMs);
      }
      return "abandoned";
    } finally {
      if (failures > 0) this.#waitingForDlq--;
    }
  }
}

/** The disposition of a message that the policy drops, or of a redrive whose dead letter is gone. */
export function dropped(error: BridgeError): "expired" | "filtered" | "dropped" {
  return error.class === "expired" || error.class === "filtered" ? error.class : "dropped";
}
