import { BridgeError, type Clock, type Logger, type Settlement } from "@bridge/ports";
import { failure, messageOf, stackOf } from "./failure.ts";
import type { Feed } from "./feed.ts";
import { isThenable } from "@bridge/ports/internal";
import { SourceDelivery } from "./source-delivery.ts";
import type { Yielded } from "./yielded.ts";

/** A callback that takes longer does not hold its message's place any more. */
const SETTLED_TIMEOUT_MS = 10_000;

type Accept = Settlement & { readonly kind: "accept" };

/** What one receiver has handed out and is not settled. It outlasts an iterable that fails: what is under way goes on. */
export class HeldDeliveries {
  readonly #who: string;
  readonly #source: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #unsettled = new Set<SourceDelivery>();
  #controller = new AbortController();

  constructor({ who, name }: Pick<Feed, "who" | "name">, clock: Clock, logger: Logger) {
    this.#who = who;
    this.#source = name;
    this.#clock = clock;
    this.#logger = logger;
  }

  handOut(yielded: Yielded): SourceDelivery {
    const delivery = new SourceDelivery(yielded, this.#controller.signal, this.#settle);
    this.#unsettled.add(delivery);
    return delivery;
  }

  /** What is unsettled, in the order in which it was handed out; it can be settled no more. */
  takeBack(): readonly Yielded[] {
    const taken = Array.from(this.#unsettled, ({ yielded }) => yielded);
    this.#unsettled.clear();
    this.#controller.abort(new BridgeError("CONNECTION_LOST", `${this.#who} has taken the message back`));
    this.#controller = new AbortController();
    return taken;
  }

  readonly #settle = (delivery: SourceDelivery, settlement: Settlement): Promise<void> | undefined => {
    if (settlement.kind !== "accept") {
      return Promise.reject(new BridgeError("INTERNAL", `${this.#who} cannot ${settlement.kind} a message`));
    }
    if (!this.#unsettled.delete(delivery)) {
      return Promise.reject(new BridgeError("CONNECTION_LOST", `the message is settled, or ${this.#who} took it back`));
    }
    const { settled } = delivery.yielded;
    if (settled === undefined) return undefined;
    try {
      const told = settled(settlement.outcome);
      return isThenable(told) ? this.#until(told, settlement) : undefined;
    } catch (thrown) {
      this.#notHeard(thrown, settlement);
      return undefined;
    }
  };

  async #until(told: PromiseLike<unknown>, settlement: Accept): Promise<void> {
    const over = new AbortController();
    const late = this.#clock.delay(SETTLED_TIMEOUT_MS, over.signal).then(() => {
      throw new BridgeError("TIMEOUT", `it has not ended after ${SETTLED_TIMEOUT_MS} ms`);
    });
    try {
      await Promise.race([told, late]);
    } catch (thrown) {
      this.#notHeard(thrown, settlement);
    } finally {
      over.abort();
      late.catch(() => {});
    }
  }

  /** The message is where it should be whatever the program makes of that: to the engine it is settled. */
  #notHeard(thrown: unknown, { envelopeId, outcome }: Accept): void {
    const error = failure(`settled of ${this.#who}`, thrown);
    const fields = { source: this.#source, envelope_id: envelopeId, outcome, error: messageOf(error) };
    this.#logger.warn(
      "settled of a source failed: the message is settled all the same, and does not come again",
      fields,
    );
    this.#logger.debug("where settled of a source failed", { ...fields, stack: stackOf(thrown) });
  }
}
