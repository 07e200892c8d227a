import { BridgeError, type Clock, type Settlement } from "@bridge/ports";
import type { MemoryChannel } from "./memory-channel.ts";
import { MemoryDelivery } from "./memory-delivery.ts";

/** How a receiver hands messages out. */
export interface DeliveryTraits {
  readonly counts: boolean;
  readonly releasable: boolean;
  readonly redeliveryDelayMs: number;
}

/** What one consumer holds of a channel, from the moment it is connected until the channel takes everything back. */
export class Loan {
  readonly traits: DeliveryTraits;
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #channel: MemoryChannel;
  readonly #clock: Clock;
  readonly #unsettled = new Set<MemoryDelivery>();

  constructor(channel: MemoryChannel, traits: DeliveryTraits, clock: Clock) {
    this.#channel = channel;
    this.traits = traits;
    this.#clock = clock;
    this.signal = this.#controller.signal;
  }

  take(): MemoryDelivery | undefined {
    const held = this.#channel.take(this.#clock);
    if (held === undefined) return undefined;
    const delivery = new MemoryDelivery(held, this);
    this.#unsettled.add(delivery);
    return delivery;
  }

  settle(delivery: MemoryDelivery, settlement: Settlement): Promise<void> | undefined {
    return this.#channel.settles.active
      ? this.#settleLater(delivery, settlement)
      : this.#settleNow(delivery, settlement);
  }

  /** Ends the loan: everything unsettled goes back to the channel. */
  end(cause: BridgeError): void {
    const batch = Array.from(this.#unsettled, (delivery) => delivery.held);
    this.#unsettled.clear();
    this.#controller.abort(cause);
    if (batch.length > 0) this.#channel.giveBack(batch, this.traits.redeliveryDelayMs, this.#clock);
  }

  #settleNow(delivery: MemoryDelivery, settlement: Settlement): Promise<void> | undefined {
    if (settlement.kind === "release" && !this.traits.releasable) {
      return Promise.reject(new BridgeError("INTERNAL", `channel "${this.#channel.name}" cannot release a delivery`));
    }
    if (!this.#unsettled.delete(delivery)) {
      return Promise.reject(
        new BridgeError("CONNECTION_LOST", `the delivery is settled, or channel "${this.#channel.name}" took it back`),
      );
    }
    this.#channel.settle(delivery.held, settlement, this.#clock);
    return undefined;
  }

  async #settleLater(delivery: MemoryDelivery, settlement: Settlement): Promise<void> {
    try {
      await this.#channel.settles.pass(this.signal);
    } catch (error) {
      if (this.#unsettled.delete(delivery)) {
        this.#channel.giveBack([delivery.held], this.traits.redeliveryDelayMs, this.#clock);
      }
      throw error;
    }
    await this.#settleNow(delivery, settlement);
  }
}
