import { BridgeError } from "@bridge/ports";
import { isError } from "../hooks/shown-error.ts";
import { expiryOf } from "./expiry.ts";
import type { Failures } from "./failures.ts";
import type { Handover } from "./handover.ts";
import { isWanted } from "./is-wanted.ts";
import { type EndedLeg, type Outcome, summarise } from "./outcome.ts";
import type { RouteParts, Target } from "./route-parts.ts";
import { runProcessor } from "./run-processor.ts";
import { unresolved } from "./unresolved.ts";
import type { Work } from "./work.ts";

/** Takes a message through one route: expiry, processors, resolver; then the delivery mode hands it on. */
export class Process {
  readonly #parts: RouteParts;
  readonly #failures: Failures;
  readonly #handover: Handover;

  constructor(parts: RouteParts, failures: Failures, handover: Handover) {
    this.#parts = parts;
    this.#failures = failures;
    this.#handover = handover;
  }

  /** Carries the message to its end. Rejects or throws only on an unforeseen error: pass that to {@link failed}. */
  run(work: Work, refused: BridgeError | undefined): Promise<Outcome> {
    if (refused !== undefined) return this.#endUnbound(work, refused);
    const expired = expiryOf(work.envelope, this.#parts.clock);
    if (expired !== undefined) return this.#endUnbound(work, expired);
    return this.#parts.processors.length > 0 ? this.#prepareAndHandOn(work) : this.#handOn(work);
  }

  /** Ends a message after an unforeseen error: nobody can know what a repeat would do. */
  failed(work: Work, thrown: unknown): Promise<Outcome> {
    this.#parts.surprises.tell("the route", thrown, { envelope_id: work.received.id });
    const { message } = BridgeError.from(thrown);
    const why = `the message could not be handled: ${message}`;
    return this.#endUnbound(work, new BridgeError("INVALID_PAYLOAD", why, { cause: thrown, charged: false }));
  }

  async #prepareAndHandOn(work: Work): Promise<Outcome> {
    return (await this.#prepare(work)) ?? (await this.#handOn(work));
  }

  #handOn(work: Work): Promise<Outcome> {
    const targets = this.#resolve(work);
    if (targets instanceof BridgeError) return this.#endUnbound(work, targets);
    return this.#handover.handOn(work, targets);
  }

  #resolve(work: Work): readonly Target[] | BridgeError {
    const { resolver, targets } = this.#parts;
    let chosen: readonly string[] | undefined;
    try {
      chosen = work.onlyBinding === undefined ? resolver(work.envelope) : [work.onlyBinding];
    } catch (thrown) {
      this.#parts.surprises.tell("the resolver", thrown, { envelope_id: work.received.id });
      return unresolved("the resolver", thrown);
    }
    if (chosen === undefined) {
      return new BridgeError(
        "BINDING_UNRESOLVED",
        "no rule of the route's resolver chose a binding, and it has no default",
      );
    }
    return chosen.map((id) => targets.get(id)).filter((target) => target !== undefined);
  }

  /** Ends a message that has no binding and gets none. */
  async #endUnbound(work: Work, error: BridgeError): Promise<Outcome> {
    return this.#close(work, await this.#failures.end(work, "", error));
  }

  /** Runs the processors, and retries transient failures; returns the outcome if the message ended. */
  async #prepare(work: Work): Promise<Outcome | undefined> {
    const attempts = this.#failures.attemptsOf(work, "");
    work.waited();
    while (!work.cancelled) {
      const error = await this.#processAll(work);
      if (error === undefined) return undefined;
      // When the error names its processor, its cause is what the processor threw.
      this.#failures.charge(work, "", error, attempts, isError(error.cause) ? error.cause : error);
      const ended = await this.#failures.after(work, "", error, attempts);
      if (ended !== "again") return this.#close(work, ended);
      const { config, surprises } = this.#parts;
      if (!isWanted(work.delivery, config.receiverId, surprises)) work.cancel();
    }
    return this.#close(work, { disposition: "abandoned", bindingId: "" });
  }

  /** Opens and closes a leg without a binding in the accounts. */
  #close(work: Work, ended: EndedLeg): Outcome {
    const { unbound, recent, unboundPlace, clock } = this.#parts;
    unbound.open(work.origin);
    unbound.close(ended.disposition);
    recent.legs.add(unboundPlace, work.received.id, ended.disposition, clock.monotonic());
    return summarise([ended]);
  }

  async #processAll(work: Work): Promise<BridgeError | undefined> {
    const { clock, processors, surprises, config } = this.#parts;
    const { sendTimeoutMs } = config.policy;
    let envelope = work.received;
    for (const processor of processors) {
      const { strays } = processor;
      while (strays.full && !work.cancelled) {
        await strays.whenRoom(`processor ${processor.id}`, this.#parts.logger, work.signal);
      }
      if (work.cancelled) return new BridgeError("UNAVAILABLE", "the work was cancelled", { charged: false });
      const result = await runProcessor(clock, processor, envelope, sendTimeoutMs, work.signal, surprises);
      if (result instanceof BridgeError) return result;
      envelope = result;
    }
    work.envelope = envelope;
    return undefined;
  }
}
