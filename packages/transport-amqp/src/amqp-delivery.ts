import type { BridgeError, Clock, Delivery, Settlement, SourceMessage } from "@bridge/ports";
import type { AckLedger } from "./ack-ledger.ts";

export interface DeliveryFacts {
  readonly message: SourceMessage;
  readonly undecodable: BridgeError | undefined;
  readonly tag: number;
  readonly receiveCount: number | undefined;
  /** Whether it may go back to its queue. */
  readonly releasable: boolean;
}

/** A message that its broker waits to see settled, on the channel that it came on and on no other. */
export class AmqpDelivery implements Delivery {
  readonly message: SourceMessage;
  readonly undecodable: BridgeError | undefined;
  readonly receiveCount: number | undefined;
  readonly releasable: boolean;
  readonly #tag: number;
  readonly #ledger: AckLedger;
  readonly #clock: Clock;
  #told: Promise<void> | undefined;

  constructor({ message, undecodable, tag, receiveCount, releasable }: DeliveryFacts, ledger: AckLedger, clock: Clock) {
    this.message = message;
    this.undecodable = undecodable;
    this.receiveCount = receiveCount;
    this.releasable = releasable;
    this.#tag = tag;
    this.#ledger = ledger;
    this.#clock = clock;
  }

  get signal(): AbortSignal {
    return this.#ledger.signal;
  }

  /** Once: a second acknowledgement of a tag would cost the channel, and all that is unsettled on it. */
  settle(settlement: Settlement): Promise<void> {
    if (this.#told === undefined || this.signal.aborted) this.#told = this.#tell(settlement);
    return this.#told;
  }

  #tell(settlement: Settlement): Promise<void> {
    if (this.signal.aborted) return Promise.reject(this.signal.reason as Error);
    if (settlement.kind !== "release") return this.#ledger.accept(this.#tag);
    // The protocol knows no delay: the broker gets the message back when it is over, or when the channel ends.
    void this.#clock.delay(settlement.delayMs, this.signal).then(
      () => this.#ledger.release(this.#tag),
      () => {},
    );
    return Promise.resolve();
  }
}
