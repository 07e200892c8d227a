import { BridgeError, type OutboxClaim, type OutboxRecord, readTraceContext, type Span } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import type { RateLimiter } from "../control/rate-limiter.ts";
import { expiryOf } from "../route/expiry.ts";
import { Gates } from "../route/gates.ts";
import type { RouteParts, Target } from "../route/route-parts.ts";
import { Cancelled, SendGuards } from "../route/send-guards.ts";
import { endSend } from "../route/send-outcome.ts";
import { sentWithContext } from "../trace/carry-context.ts";
import { type ClaimVerdicts, giveBack, type Verdict } from "./claim-verdicts.ts";

const OVER = new Error("the batch is over");

/** Records claimed together, their deadline, and the keys whose first record is to be retried. */
export interface Batch {
  /** Monotonic milliseconds. */
  readonly deadline: number;
  readonly blocked: Set<string>;
}

export interface RecordSenderOptions {
  readonly parts: RouteParts;
  readonly target: Target;
  readonly verdicts: ClaimVerdicts;
  /** Aborts when no further send may begin. */
  readonly leaving: AbortSignal;
}

/** Sends the records claimed for a binding, and decides how each ends. */
export class RecordSender implements Disposable {
  readonly #options: RecordSenderOptions;
  readonly #sendTimeoutMs: number;
  readonly #guards: SendGuards;
  readonly #gates: Gates;

  constructor(options: RecordSenderOptions) {
    const { clock, config, processors, surprises } = options.parts;
    this.#options = options;
    this.#sendTimeoutMs = config.policy.sendTimeoutMs;
    this.#guards = new SendGuards(clock, this.#sendTimeoutMs);
    this.#gates = new Gates(processors, surprises);
  }

  /** Gives up every send in progress. */
  [Symbol.dispose](): void {
    this.#guards[Symbol.dispose]();
  }

  /**
   * Never rejects: an unforeseen error charges its record, so that it is not tried for ever. `work` aborts when sends
   * in progress are cancelled.
   */
  async send(claim: OutboxClaim, batch: Batch, work: AbortSignal): Promise<Verdict> {
    try {
      return await this.#sendInTurn(claim, batch, work);
    } catch (thrown) {
      this.surprised(claim.record, thrown);
      return this.#options.verdicts.failed(claim, BridgeError.from(thrown), work);
    }
  }

  /** Logs an error if nobody foresaw it. */
  surprised({ bindingId, envelope }: OutboxRecord, thrown: unknown): void {
    this.#options.parts.surprises.tell(`binding ${bindingId}`, thrown, { envelope_id: envelope.id });
  }

  async #sendInTurn(claim: OutboxClaim, batch: Batch, work: AbortSignal): Promise<Verdict> {
    const { parts, target, verdicts } = this.#options;
    const { record, attempts } = claim;
    const maySend = this.#maySend(record, batch);
    if (maySend !== true && !(await maySend)) return giveBack(attempts);
    const { rate } = target;
    const rated = !rate.unlimited;
    if (rated) {
      if (!(await this.#turn(batch))) return giveBack(attempts);
      if (!(await this.#maySend(record, batch))) return giveBackWithTurn(rate, attempts);
    }
    if (record.entryId !== undefined) {
      const known = await verdicts.givenUpBefore(record);
      if (known !== undefined) return known;
      if (!(await this.#maySend(record, batch))) return rated ? giveBackWithTurn(rate, attempts) : giveBack(attempts);
    }
    const expired = expiryOf(record.envelope, parts.clock);
    if (expired !== undefined) return verdicts.failed(claim, expired, work);
    const ended = this.#gates.admit(record.envelope, target.bindingId);
    if (typeof ended !== "function") return verdicts.failed(claim, ended, work);
    const { envelope, received } = record;
    // Processors may have removed the trace context, which does not change where the message belongs.
    const parent = target.tracer && readTraceContext((received ?? envelope).headers);
    let span: Span | undefined;
    try {
      span = target.tracer?.send({ envelope, parent, attempt: attempts + 1 });
      target.account.attempts++;
      await this.#guards.send(target, sentWithContext(envelope, span), record.address, claim, attempts + 1);
    } catch (thrown) {
      ended(thrown);
      endSend(span, thrown);
      if (thrown instanceof Cancelled) return giveBack(attempts);
      this.surprised(record, thrown);
      return verdicts.failed(claim, BridgeError.from(thrown), work);
    }
    ended(undefined);
    endSend(span, undefined);
    return verdicts.accepted(claim);
  }

  /** Waits for a turn under the rate limit; false if none comes in time. A record that goes back takes no other's turn. */
  async #turn(batch: Batch): Promise<boolean> {
    const { target } = this.#options;
    try {
      await this.#inTime(batch, (signal) => target.rate.take(signal));
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Whether the record may be sent; otherwise it goes back unchanged. If the lease is too short for a send, the record
   * waits in its batch: claimed again, it could be late each time.
   */
  #maySend(record: OutboxRecord, batch: Batch): boolean | Promise<boolean> {
    if (this.#hasToGoBack(record, batch)) return false;
    const term = this.#options.target.link?.lease?.term;
    if (term?.lasts(this.#sendTimeoutMs) !== false) return true;
    if (term.ended) return false;
    return this.#inTime(batch, (signal) => orAborted(term.whenRenewed, signal)).then(
      () => !term.ended && this.#maySend(record, batch),
      () => false,
    );
  }

  async #inTime({ deadline: until }: Batch, wait: (signal: AbortSignal) => Promise<void> | undefined): Promise<void> {
    const { parts, leaving } = this.#options;
    using bound = deadline(parts.clock, Math.max(0, until - parts.clock.monotonic()), OVER);
    await wait(AbortSignal.any([leaving, bound.signal]));
  }

  #hasToGoBack({ orderingKey: key }: OutboxRecord, batch: Batch): boolean {
    const { parts, target, leaving } = this.#options;
    const { clock, control } = parts;
    if (leaving.aborted || target.strays.full || control.pause.paused || clock.monotonic() > batch.deadline)
      return true;
    return target.link?.connected === false || (key !== undefined && batch.blocked.has(key));
  }
}

/** Frees the turn for the next record: a send that had to wait once more might not get another in time. */
function giveBackWithTurn(rate: RateLimiter, attempts: number): Verdict {
  rate.giveBack();
  return giveBack(attempts);
}
