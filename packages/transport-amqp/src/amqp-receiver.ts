import { Inbox } from "@bridge/ports/internal";
import { type Clock, type Delivery, type Logger, type Receiver, type ReceiverContext } from "@bridge/ports";
import type { AckLedger } from "./ack-ledger.ts";
import { AmqpDelivery } from "./amqp-delivery.ts";
import { deliveryCount, inboundMessage, type Incoming } from "./inbound-message.ts";
import { MAX_PREFETCH, type ReceiverOptions } from "./options.ts";

/** Hands out the messages of a queue as they are asked for. What the broker pushes is bounded by `prefetch`. */
export class AmqpReceiver implements Receiver {
  readonly id: string;
  readonly options: ReceiverOptions;
  readonly prefetch: number;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #inbox = new Inbox<AmqpDelivery>();
  #received = 0;
  #tooLarge = 0;
  #uncounted = false;

  constructor(options: ReceiverOptions, { id, maxInFlight, clock, logger }: ReceiverContext) {
    this.id = id;
    this.options = options;
    this.prefetch = options.prefetch ?? Math.min(Math.max(maxInFlight, 1), MAX_PREFETCH);
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Hands over a message that came on a channel, at once when one is waited for. */
  push(incoming: Incoming, ledger: AckLedger): void {
    const tag = incoming.deliveryTag;
    ledger.open(tag);
    if (this.#inbox.disposed) return;
    this.#received++;
    const facts = {
      ...inboundMessage(incoming, this.#clock.now()),
      tag,
      receiveCount: this.#receiveCount(incoming),
      releasable: this.options.retry === "requeue",
    };
    this.#inbox.push(new AmqpDelivery(facts, ledger, this.#clock));
  }

  /**
   * A message that is larger than the session allows. It was not kept, and is not settled: nobody has it but its queue,
   * and it takes one of the places of `prefetch` until somebody raises the limit or takes it away.
   */
  leave(size: number): void {
    this.#tooLarge++;
    this.#logger.warn("a message is left in its queue: it is larger than max_message_bytes of the session", {
      receiver_id: this.id,
      queue: this.options.queue,
      size,
    });
  }

  /** Forgets what waits and can no longer be settled; the broker hands it out again. */
  withdraw(signal: AbortSignal): void {
    this.#inbox.remove((delivery) => delivery.signal === signal);
  }

  receive(signal: AbortSignal): AsyncIterable<Delivery> {
    return this.#inbox.receive(signal);
  }

  counters(): Readonly<Record<string, number>> {
    return { received: this.#received, waiting: this.#inbox.size, too_large: this.#tooLarge };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#inbox[Symbol.dispose]();
    this.#inbox.remove(() => true);
  }

  /** A message that comes for the first time may carry a count of another queue's: the broker's word goes first. */
  #receiveCount(incoming: Incoming): number | undefined {
    if (this.options.queue_type === "classic") return undefined;
    if (!incoming.redelivered) return 1;
    const count = deliveryCount(incoming);
    if (count !== undefined) return count + 1;
    if (!this.#uncounted && incoming.properties.problem === undefined) {
      this.#uncounted = true;
      this.#logger.warn("the queue does not count how often it hands a message out: set queue_type to classic", {
        receiver_id: this.id,
        queue: this.options.queue,
      });
    }
    return undefined;
  }
}
