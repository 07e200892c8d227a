import { BridgeError, deadline, type Envelope, orAborted } from "@bridge/ports";
import { Failures } from "./failures.ts";
import { type LegOutcome, type Outcome, summarise } from "./outcome.ts";
import type { NamedProcessor, RouteParts, Target } from "./route-parts.ts";
import { SendGuards } from "./send-guards.ts";
import type { Work } from "./work.ts";

const DELIVERED: Outcome = { disposition: "delivered", failedBindings: [] };

/** The way of a message through one route: expiry, processors, resolver, and a leg to each binding (delivery mode `direct_hold`). */
export class Process implements Disposable {
  readonly #parts: RouteParts;
  readonly #guards: SendGuards;
  readonly failures: Failures;

  constructor(parts: RouteParts) {
    this.#parts = parts;
    this.#guards = new SendGuards(parts.clock, parts.config.policy.sendTimeoutMs);
    this.failures = new Failures(parts);
  }

  cancel(work: Work): void {
    work.cancel();
    this.#guards.cancel(work);
  }

  [Symbol.dispose](): void {
    this.#guards[Symbol.dispose]();
  }

  /** Carries the message to its end. Rejects only for a bug. */
  async run(work: Work, refused: BridgeError | undefined): Promise<Outcome> {
    if (refused !== undefined) return this.#endUnbound(work, refused);
    if (this.#expired(work)) return this.#endUnbound(work, expiry());
    if (this.#parts.processors.length > 0) {
      const ended = await this.#prepare(work);
      if (ended !== undefined) return ended;
    }
    const targets = this.#resolve(work);
    if (targets instanceof BridgeError) return this.#endUnbound(work, targets);
    for (const target of targets) target.account.open(work.origin);
    const [first] = targets;
    if (first === undefined || targets.length > 1) {
      return summarise(await Promise.all(targets.map((target) => this.#leg(work, target))));
    }
    const leg = await this.#leg(work, first);
    return leg.disposition === "delivered" ? DELIVERED : summarise([leg]);
  }

  #expired(work: Work): boolean {
    const { expiresAt } = work.envelope;
    return expiresAt !== undefined && this.#parts.clock.now() > expiresAt;
  }

  #resolve(work: Work): readonly Target[] | BridgeError {
    const { resolver, targets } = this.#parts;
    const chosen = work.onlyBinding === undefined ? resolver(work.envelope) : [work.onlyBinding];
    if (chosen === undefined) {
      return new BridgeError(
        "BINDING_UNRESOLVED",
        "no rule of the route's resolver chose a binding, and it has no default",
      );
    }
    return chosen.map((id) => targets.get(id)).filter((target) => target !== undefined);
  }

  /** One leg, until the target has accepted it or the policy has been carried out. */
  async #leg(work: Work, target: Target): Promise<LegOutcome> {
    try {
      const outcome = await this.#carry(work, target);
      target.account.close(outcome.disposition);
      return outcome;
    } catch (bug) {
      target.account.close("abandoned");
      throw bug;
    }
  }

  async #carry(work: Work, target: Target): Promise<LegOutcome> {
    const { bindingId, link, account } = target;
    let attempts: ReturnType<Failures["attemptsOf"]> | undefined;
    for (;;) {
      if (work.cancelled) return { disposition: "abandoned", bindingId };
      if (link !== undefined && !link.connected) {
        // Nothing can be tried, so nothing is charged: the leg waits, and its slot with it.
        await orAborted(link.whenConnected, work.signal).catch(() => {});
        continue;
      }
      let error: BridgeError;
      if (this.#expired(work)) {
        error = expiry();
      } else {
        try {
          const address = target.address(work.envelope);
          account.attempts++;
          await this.#guards.send(target.sender, work.envelope, address, work);
          this.failures.forget(work, bindingId);
          return { disposition: "delivered", bindingId };
        } catch (thrown) {
          if (work.cancelled) return { disposition: "abandoned", bindingId };
          error = BridgeError.from(thrown);
        }
      }
      attempts ??= this.failures.attemptsOf(work, bindingId);
      if (error.charged) attempts.charged++;
      const ended = await this.failures.after(work, bindingId, error, attempts);
      if (ended === "again") continue;
      if (ended.disposition !== "abandoned" && ended.disposition !== "released") this.failures.forget(work, bindingId);
      return ended;
    }
  }

  /** Ends a message that has no binding yet and never gets one. */
  async #endUnbound(work: Work, error: BridgeError): Promise<Outcome> {
    const attempts = this.failures.attemptsOf(work, "");
    const ended = await this.failures.after(work, "", error, attempts);
    return this.#close(work, ended === "again" ? { disposition: "abandoned", bindingId: "" } : ended);
  }

  /** Runs the processors, with retries for transient failures; says how the message ended if it did. */
  async #prepare(work: Work): Promise<Outcome | undefined> {
    const attempts = this.failures.attemptsOf(work, "");
    while (!work.cancelled) {
      const error = await this.#processAll(work);
      if (error === undefined) {
        this.failures.forget(work, "");
        return undefined;
      }
      if (error.charged) attempts.charged++;
      const ended = await this.failures.after(work, "", error, attempts);
      if (ended !== "again") return this.#close(work, ended);
    }
    return this.#close(work, { disposition: "abandoned", bindingId: "" });
  }

  /** Enters a leg without a binding into the accounts, in one step. */
  #close(work: Work, ended: LegOutcome): Outcome {
    this.#parts.unbound.open(work.origin);
    this.#parts.unbound.close(ended.disposition);
    if (ended.disposition !== "abandoned" && ended.disposition !== "released") this.failures.forget(work, "");
    return summarise([ended]);
  }

  async #processAll(work: Work): Promise<BridgeError | undefined> {
    let envelope = work.received;
    for (const named of this.#parts.processors) {
      const result = await this.#processOne(named, envelope, work);
      if (result instanceof BridgeError) return result;
      envelope = result;
    }
    work.envelope = envelope;
    return undefined;
  }

  async #processOne(
    { id, processor }: NamedProcessor,
    envelope: Envelope,
    work: Work,
  ): Promise<Envelope | BridgeError> {
    const { sendTimeoutMs } = this.#parts.config.policy;
    using bound = deadline(
      sendTimeoutMs,
      new BridgeError("TIMEOUT", `processor ${id} did not end within ${sendTimeoutMs} ms`),
    );
    const signal = AbortSignal.any([work.signal, bound.signal]);
    try {
      const result = await orAborted(Promise.resolve(processor.process(envelope, signal)), signal);
      if (result.kind === "pass") return result.envelope;
      return new BridgeError("MESSAGE_FILTERED", `processor ${id}: ${result.reason}`);
    } catch (thrown) {
      const error = BridgeError.from(thrown);
      return new BridgeError(error.code, `processor ${id}: ${error.message}`, {
        retryAfterMs: error.retryAfterMs,
        charged: error.charged,
        cause: thrown,
      });
    }
  }
}

function expiry(): BridgeError {
  return new BridgeError("MESSAGE_EXPIRED", "the message's expiry had passed", { charged: false });
}
