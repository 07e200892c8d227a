import { BridgeError, type Delivery, type Settlement, type SourceMessage } from "@bridge/ports";
import type { Held } from "./ack-ledger.ts";
import type { Inbound } from "./inbound-message.ts";

/** A message for one receiver. */
export class MqttDelivery implements Delivery {
  readonly message: SourceMessage;
  readonly undecodable: BridgeError | undefined;
  readonly signal: AbortSignal | undefined;
  readonly #held: Held | undefined;
  #accepted = false;

  /** What is not held, at QoS 0, the broker has forgotten as it sent it: there is nothing to settle. */
  constructor({ message, undecodable }: Inbound, held: Held | undefined) {
    this.message = message;
    this.undecodable = undecodable;
    this.signal = held?.ledger.signal;
    this.#held = held;
  }

  settle(settlement: Settlement): Promise<void> | undefined {
    if (settlement.kind === "release") {
      throw new BridgeError("INTERNAL", "MQTT cannot take a message back: it comes again only on another connection");
    }
    const held = this.#held;
    if (held === undefined) return undefined;
    if (!this.#accepted) held.ledger.accept(held);
    this.#accepted = true;
    return held.ledger.whenWritten(held);
  }
}
