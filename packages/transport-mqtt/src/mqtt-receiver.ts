import { Inbox } from "@bridge/ports/internal";
import type { Delivery, Receiver, Topic } from "@bridge/ports";
import type { Intake } from "./intake.ts";
import type { MqttDelivery } from "./mqtt-delivery.ts";

/** Hands out the messages of a session that match its topics, as they are asked for. */
export class MqttReceiver implements Receiver {
  readonly topics: readonly Topic[];
  readonly #intake: Intake;
  readonly #inbox: Inbox<MqttDelivery>;
  #received = 0;

  constructor(topics: readonly Topic[], intake: Intake) {
    this.topics = topics;
    this.#intake = intake;
    this.#inbox = new Inbox(({ message }) => intake.remove(message.payload.length));
  }

  /** Hands over a delivery, at once when one is waited for. */
  push(delivery: MqttDelivery): void {
    if (this.#inbox.disposed) return;
    this.#received++;
    if (this.#inbox.push(delivery)) this.#intake.add(delivery.message.payload.length);
  }

  /** Forgets what waits and can no longer be settled; the broker hands it out again. */
  withdraw(signal: AbortSignal): void {
    this.#forget((delivery) => delivery.signal === signal);
  }

  receive(signal: AbortSignal): AsyncIterable<Delivery> {
    return this.#inbox.receive(signal);
  }

  counters(): Readonly<Record<string, number>> {
    return { received: this.#received, waiting: this.#inbox.size };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#inbox[Symbol.dispose]();
    this.#forget(() => true);
  }

  #forget(condition: (delivery: MqttDelivery) => boolean): void {
    for (const { message } of this.#inbox.remove(condition)) this.#intake.remove(message.payload.length);
  }
}
