import { type AcceptedOutcome, BridgeError, type Delivery, type Settlement, type SourceMessage } from "@bridge/ports";
import type { AckLedger } from "./ack-ledger.ts";
import type { DeliveryInfo } from "./ack-subject.ts";
import type { Inbound } from "./inbound-message.ts";

const UNSAID = new Uint8Array();
/** What ends a message that will never be delivered. */
const givenUp: ReadonlySet<AcceptedOutcome> = new Set(["dead_lettered", "dropped", "expired"]);

/** A message that its server waits to see settled, on the connection that it came on and on no other. */
export class NatsDelivery implements Delivery {
  readonly message: SourceMessage;
  readonly undecodable: BridgeError | undefined;
  readonly receiveCount: number;
  readonly releasable: boolean;
  /** Its place in the stream. */
  readonly sequence: number;
  /** Where it is settled; another one when it was handed out once more meanwhile. */
  ackSubject: string;
  /** When it came, as its ledger counts time. */
  age = 0;
  /** What its ledger is to say of it, once it is settled. */
  word: Uint8Array = UNSAID;
  readonly #ledger: AckLedger;
  #told: Promise<void> | undefined;

  constructor(
    { message, undecodable }: Inbound,
    info: DeliveryInfo,
    { ackSubject, releasable }: { readonly ackSubject: string; readonly releasable: boolean },
    ledger: AckLedger,
  ) {
    this.message = message;
    this.undecodable = undecodable;
    this.releasable = releasable;
    this.receiveCount = info.deliveryCount;
    this.sequence = info.sequence;
    this.ackSubject = ackSubject;
    this.#ledger = ledger;
  }

  get signal(): AbortSignal {
    return this.#ledger.signal;
  }

  /** Once: a second word about a message could be about its next delivery. */
  settle(settlement: Settlement): Promise<void> {
    if (this.#told === undefined || this.signal.aborted) this.#told = this.#tell(settlement);
    return this.#told;
  }

  #tell(settlement: Settlement): Promise<void> {
    switch (settlement.kind) {
      case "accept":
        return givenUp.has(settlement.outcome)
          ? this.#ledger.terminate(this, settlement.outcome)
          : this.#ledger.accept(this);
      case "release":
        return this.#ledger.release(this, settlement.delayMs);
      case "refuse":
        return Promise.reject(new BridgeError("INTERNAL", "JetStream cannot tell the owner of a message anything"));
    }
  }
}
