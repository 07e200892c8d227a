import type { RoutePolicy } from "@bridge/config";
import type { BridgeError } from "@bridge/ports";
import { DeadLetterWriter } from "../dlq/dead-letter-writer.ts";
import { replayIn } from "../dlq/failed-replay.ts";
import { originalOf } from "../hooks/shown-error.ts";
import { traceFields } from "../trace/trace-fields.ts";
import { AttemptLedger } from "./attempt-ledger.ts";
import { backoffDelay } from "./backoff.ts";
import { deadLetterOf } from "./dead-letter.ts";
import { decide } from "./decide.ts";
import { orderingKey, stableIdentity } from "./identity.ts";
import type { EndedLeg } from "./outcome.ts";
import type { RouteParts } from "./route-parts.ts";
import type { Work } from "./work.ts";

/** Messages of one route whose attempts are remembered across redeliveries. */
const LEDGER_CAPACITY = 10_000;

/** Counts the attempts of one leg over its hold: contract §5. */
export class Attempts {
  readonly key: string | undefined;
  /** Attempts that were charged before this hold. */
  readonly before: number;
  readonly since: number;
  /** Whether they, and their age if it matters, are counted on when the source hands the message out again. */
  readonly lasting: boolean;
  charged = 0;

  constructor(work: Work, bindingId: string, ledger: AttemptLedger, policy: RoutePolicy) {
    const { receiveCount } = work.delivery;
    // A source that counts tells how often it has handed a message out, but not since when.
    const told = receiveCount !== undefined && policy.replayBudgetMs === 0;
    const identity = told ? undefined : stableIdentity(work.received);
    this.key = identity === undefined ? undefined : JSON.stringify([bindingId, identity]);
    // What comes for the first time is not what went by its id before.
    const record = this.key === undefined || receiveCount === 1 ? undefined : ledger.get(this.key);
    this.before = receiveCount === undefined ? (record?.attempts ?? 0) : Math.max(0, receiveCount - 1);
    this.since = record?.since ?? work.startedAt;
    this.lasting = told || this.key !== undefined;
  }

  get total(): number {
    return this.before + this.charged;
  }
}

/** What a failed leg comes to: the failure policy of one route, carried out. */
export class Failures {
  readonly #parts: RouteParts;
  readonly #ledger = new AttemptLedger(LEDGER_CAPACITY);
  readonly writer: DeadLetterWriter;
  #waitingForDlq = 0;
  #dlqFailure: BridgeError | undefined;

  constructor(parts: RouteParts) {
    this.#parts = parts;
    this.writer = new DeadLetterWriter(parts);
  }

  /** Why a dead letter could not be written, while messages wait for that. */
  get dlqFailure(): BridgeError | undefined {
    return this.#waitingForDlq > 0 ? this.#dlqFailure : undefined;
  }

  attemptsOf(work: Work, bindingId: string): Attempts {
    return new Attempts(work, bindingId, this.#ledger, this.#parts.config.policy);
  }

  /** Which attempt the first one of this hold is. Asks the ledger only if it holds something: it is asked for each message. */
  firstAttempt(work: Work, bindingId: string): number {
    const { receiveCount } = work.delivery;
    if (receiveCount === 1 || (receiveCount === undefined && this.#ledger.size === 0)) return 1;
    return this.attemptsOf(work, bindingId).total + 1;
  }

  /** At the end of every leg that was handed on. */
  forget(work: Work, bindingId: string): void {
    if (this.#ledger.size === 0) return;
    const { key } = this.attemptsOf(work, bindingId);
    if (key !== undefined) this.#ledger.evict(key);
  }

  /** Charges a failed try, unless nothing was tried. `thrown`: what the error was made of, when it does not say so itself. */
  charge(work: Work, bindingId: string, error: BridgeError, attempts: Attempts, thrown = originalOf(error)): void {
    if (!error.charged) return;
    attempts.charged++;
    if (error.class === "filtered") return;
    const { config, hooks } = this.#parts;
    const { received } = work;
    hooks.attemptFailed({ routeId: config.id, bindingId, received, error: thrown, attempt: attempts.total });
  }

  /**
   * After a failed try: waits and returns `"again"`, or says how the leg ends. `attempts.charged` already counts it.
   */
  async after(work: Work, bindingId: string, error: BridgeError, attempts: Attempts): Promise<EndedLeg | "again"> {
    const ended = await this.#carryOut(work, bindingId, error, attempts);
    const comesAgain = ended === "again" || ended.disposition === "abandoned" || ended.disposition === "released";
    if (!comesAgain) for (const id of this.#endedAt(bindingId)) this.forget(work, id);
    return ended;
  }

  /** What ends without a binding may have been tried at any of them before, and has ended for all. */
  #endedAt(bindingId: string): Iterable<string> {
    return bindingId === "" ? ["", ...this.#parts.targets.keys()] : [bindingId];
  }

  /** Ends a leg whose failure is final, so that it is not tried again. */
  async end(work: Work, bindingId: string, error: BridgeError): Promise<EndedLeg> {
    const ended = await this.after(work, bindingId, error, this.attemptsOf(work, bindingId));
    if (ended === "again") throw new Error(`${error.code} ends no message: it is tried again`);
    return ended;
  }

  async #carryOut(work: Work, bindingId: string, error: BridgeError, attempts: Attempts): Promise<EndedLeg | "again"> {
    const { config, clock, random, failureLog } = this.#parts;
    if (work.cancelled) return { disposition: "abandoned", bindingId };
    const facts = { attempt: attempts.total, ageMs: clock.monotonic() - attempts.since };
    this.#count(bindingId, error);
    const decision = decide(error, facts, config.policy, () => random.next());
    const leg = { bindingId, envelopeId: work.received.id, error, trace: traceFields(work.span?.context) };
    switch (decision.kind) {
      case "retry": {
        if (attempts.key !== undefined) {
          this.#ledger.record(attempts.key, { attempts: attempts.total, since: attempts.since });
        }
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

  #count(bindingId: string, error: BridgeError): void {
    const { targets, unbound, account, clock } = this.#parts;
    const target = targets.get(bindingId);
    if (target !== undefined) target.account.fail(error, clock.monotonic());
    else unbound.fail(error, clock.monotonic(), account.handedOn);
  }

  /**
   * Only a delivery that stands for one unkeyed leg: giving back any other would repeat or reorder something. Nor what
   * was not charged: a source that counts would charge it. Nor what would come back as new, and never reach the cap
   * or the age.
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
   * Writes the dead letter, again and again until it is durable. `abandoned`: the work was cancelled before. `gone`: it was a replay, and
   * its dead letter is there no more.
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

/** How a message counts that the policy drops, or a replay of a dead letter that is gone. */
export function dropped(error: BridgeError): "expired" | "filtered" | "dropped" {
  return error.class === "expired" || error.class === "filtered" ? error.class : "dropped";
}
