import type { BridgeError, Delivery, Settlement, SourceMessage } from "@bridge/ports";
import type { Yielded } from "./yielded.ts";

/** One handing out of what a source has yielded. */
export class SourceDelivery implements Delivery {
  readonly message: SourceMessage;
  readonly undecodable: BridgeError | undefined;
  readonly signal: AbortSignal;
  readonly yielded: Yielded;
  readonly #settle: (delivery: SourceDelivery, settlement: Settlement) => Promise<void> | undefined;

  constructor(
    yielded: Yielded,
    signal: AbortSignal,
    settle: (delivery: SourceDelivery, settlement: Settlement) => Promise<void> | undefined,
  ) {
    this.message = yielded.message;
    this.undecodable = yielded.undecodable;
    this.signal = signal;
    this.yielded = yielded;
    this.#settle = settle;
  }

  settle(settlement: Settlement): Promise<void> | undefined {
    return this.#settle(this, settlement);
  }
}
