import { BridgeError, type Clock, type Settlement } from "@bridge/ports";
import { failure } from "./failure.ts";
import { isThenable } from "./is-thenable.ts";
import { SourceDelivery } from "./source-delivery.ts";
import type { Yielded } from "./yielded.ts";

/** A callback that takes longer does not hold its message's place any more. */
const SETTLED_TIMEOUT_MS = 10_000;

/** What one receiver has handed out and is not settled. It outlasts an iterable that fails: what is under way goes on. */
export class HeldDeliveries {
  readonly #who: string;
  readonly #clock: Clock;
  readonly #unsettled = new Set<SourceDelivery>();
  #controller = new AbortController();

  constructor(who: string, clock: Clock) {
    this.#who = who;
    this.#clock = clock;
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
      return isThenable(told) ? this.#until(told) : undefined;
    } catch (thrown) {
      return Promise.reject(failure(`settled of ${this.#who}`, thrown));
    }
  };

  async #until(told: PromiseLike<unknown>): Promise<void> {
    const over = new AbortController();
    const late = this.#clock.delay(SETTLED_TIMEOUT_MS, over.signal).then(() => {
      throw new BridgeError("TIMEOUT", `settled of ${this.#who} has not ended after ${SETTLED_TIMEOUT_MS} ms`);
    });
    try {
      await Promise.race([told, late]);
    } catch (thrown) {
      throw failure(`settled of ${this.#who}`, thrown);
    } finally {
      over.abort();
      late.catch(() => {});
    }
  }
}
