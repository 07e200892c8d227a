import { Inbox } from "@bridge/ports/internal";
import type { Delivery, Receiver, ReceiverContext } from "@bridge/ports";
import type { NatsDelivery } from "./nats-delivery.ts";
import type { ReceiverOptions } from "./options.ts";
import { type Place, Position } from "./position.ts";
import { SharedPosition } from "./shared-position.ts";

/** Hands out the messages of a stream as they are asked for. What is pulled is bounded by the route's window. */
export class NatsReceiver implements Receiver {
  readonly id: string;
  readonly options: ReceiverOptions;
  /** Messages that are held here at once. */
  readonly window: number;
  readonly maxReplayAttempts: number;
  /** Where a consumer begins that the bridge makes in the place of one that is gone. */
  readonly position: Place | undefined;
  readonly #inbox = new Inbox<NatsDelivery>();
  #received = 0;

  constructor(options: ReceiverOptions, { id, maxInFlight, maxReplayAttempts }: ReceiverContext) {
    this.id = id;
    this.options = options;
    this.position = options.consumer === undefined ? new Position() : options.create ? new SharedPosition() : undefined;
    this.window = Math.max(maxInFlight, 1);
    this.maxReplayAttempts = maxReplayAttempts;
  }

  /** Whether a message may go back to wait for its next try. Of a route that takes one at a time, the next would overtake it. */
  get releasable(): boolean {
    return this.window > 1;
  }

  /** Messages that the server may have handed out and not seen settled. */
  get maxAckPending(): number {
    return this.options.max_ack_pending ?? this.window;
  }

  /** Hands over a message that was pulled, at once when one is waited for. */
  push(delivery: NatsDelivery): void {
    this.#received++;
    this.#inbox.push(delivery);
  }

  /** Forgets what waits and can no longer be settled; the server hands it out again. */
  withdraw(signal: AbortSignal): void {
    this.#inbox.remove((delivery) => delivery.signal === signal);
  }

  receive(signal: AbortSignal): AsyncIterable<Delivery> {
    return this.#inbox.receive(signal);
  }

  counters(): Readonly<Record<string, number>> {
    return { received: this.#received, waiting: this.#inbox.size };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#inbox[Symbol.dispose]();
    this.#inbox.remove(() => true);
  }
}
