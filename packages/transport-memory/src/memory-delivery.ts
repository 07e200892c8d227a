import type { BridgeError, Delivery, Settlement, SourceMessage } from "@bridge/ports";
import type { Held } from "./channel-queue.ts";
import type { Loan } from "./loan.ts";

/** One handing out of a message. */
export class MemoryDelivery implements Delivery {
  readonly message: SourceMessage;
  readonly receiveCount: number | undefined;
  readonly signal: AbortSignal;
  readonly releasable: boolean;
  readonly undecodable: BridgeError | undefined;
  readonly held: Held;
  readonly #loan: Loan;

  constructor(held: Held, loan: Loan) {
    this.message = held.message;
    this.receiveCount = loan.traits.counts ? held.receiveCount : undefined;
    this.signal = loan.signal;
    this.releasable = loan.traits.releasable;
    this.undecodable = held.undecodable;
    this.held = held;
    this.#loan = loan;
  }

  settle(settlement: Settlement): Promise<void> | undefined {
    return this.#loan.settle(this, settlement);
  }
}
