import type { Message } from "@aws-sdk/client-sqs";
import type { BridgeError, Delivery, Settlement, SourceMessage } from "@bridge/ports";
import type { SignalPool } from "@bridge/ports/internal";
import { inboundMessage } from "../message/inbound-message.ts";

/** Who knows what settling comes to. */
export interface Keeper {
  settle(hold: Hold, settlement: Settlement): Promise<void>;
}

/**
 * A message that SQS has handed out to us and hides from others: as a delivery, and what is known of it until it is
 * settled, given back or lost.
 */
export class Hold implements Delivery {
  readonly message: SourceMessage;
  readonly undecodable: BridgeError | undefined;
  readonly receiveCount: number;
  readonly releasable = true;
  readonly messageId: string;
  readonly receiptHandle: string;
  /** Of a FIFO queue: its group, which stays in order. */
  readonly group: string | undefined;
  readonly receivedAt: number;
  /** When SQS shows it to others again, by our monotonic clock. */
  until: number;
  /** Its visibility is being extended. */
  extending = false;
  /** It is to be deleted: what happens to its group does not concern it any more. */
  settling = false;
  /** It is not ours any more. */
  ended = false;
  readonly #keeper: Keeper;
  readonly #signals: SignalPool;
  readonly #controller: AbortController;

  constructor(
    received: Message,
    fifo: boolean,
    keeper: Keeper,
    signals: SignalPool,
    times: { readonly receivedAt: number; readonly until: number },
  ) {
    const { message, undecodable } = inboundMessage(received, fifo);
    this.message = message;
    this.undecodable = undecodable;
    this.receiveCount = Math.max(1, Number(received.Attributes?.ApproximateReceiveCount ?? 1));
    this.messageId = received.MessageId ?? "";
    this.receiptHandle = received.ReceiptHandle ?? "";
    this.group = fifo ? received.Attributes?.MessageGroupId : undefined;
    this.receivedAt = times.receivedAt;
    this.until = times.until;
    this.#keeper = keeper;
    this.#signals = signals;
    this.#controller = signals.take();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  settle(settlement: Settlement): Promise<void> {
    return this.#keeper.settle(this, settlement);
  }

  /** SQS has forgotten it: nothing can happen to it any more. */
  deleted(): void {
    this.#signals.giveBack(this.#controller);
  }

  /** SQS has it back. */
  takenBack(cause: BridgeError): void {
    this.#controller.abort(cause);
  }
}
