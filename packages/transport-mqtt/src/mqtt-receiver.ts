import type { Delivery, Receiver, Topic } from "@bridge/ports";
import { Fifo } from "./fifo.ts";
import type { Intake } from "./intake.ts";
import type { MqttDelivery } from "./mqtt-delivery.ts";

const END: IteratorResult<Delivery> = { done: true, value: undefined };

/** Hands out the messages of a session that match its topics, as they are asked for. */
export class MqttReceiver implements Receiver {
  readonly topics: readonly Topic[];
  readonly #intake: Intake;
  readonly #waiting = new Fifo<MqttDelivery>();
  #wanted: ((result: IteratorResult<Delivery>) => void) | undefined;
  #endIteration: (() => void) | undefined;
  #received = 0;
  #disposed = false;

  constructor(topics: readonly Topic[], intake: Intake) {
    this.topics = topics;
    this.#intake = intake;
  }

  /** Hands over a delivery, at once when one is waited for. */
  push(delivery: MqttDelivery): void {
    if (this.#disposed) return;
    this.#received++;
    const wanted = this.#wanted;
    if (wanted !== undefined) {
      this.#wanted = undefined;
      wanted({ done: false, value: delivery });
      return;
    }
    this.#waiting.push(delivery);
    this.#intake.add(delivery.message.payload.length);
  }

  /** Forgets what waits and can no longer be settled; the broker hands it out again. */
  withdraw(signal: AbortSignal): void {
    for (const { message } of this.#waiting.remove((delivery) => delivery.signal === signal)) {
      this.#intake.remove(message.payload.length);
    }
  }

  receive(signal: AbortSignal): AsyncIterable<Delivery> {
    return { [Symbol.asyncIterator]: () => this.#iterate(signal) };
  }

  counters(): Readonly<Record<string, number>> {
    return { received: this.#received, waiting: this.#waiting.size };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    this.#endIteration?.();
    for (const { message } of this.#waiting.remove(() => true)) this.#intake.remove(message.payload.length);
  }

  #iterate(signal: AbortSignal): AsyncIterator<Delivery> {
    let ended = false;
    const end = (): void => {
      if (ended) return;
      ended = true;
      signal.removeEventListener("abort", end);
      this.#endIteration = undefined;
      this.#wanted?.(END);
      this.#wanted = undefined;
    };
    if (signal.aborted || this.#disposed) {
      ended = true;
    } else {
      signal.addEventListener("abort", end);
      this.#endIteration = end;
    }
    return {
      next: () => {
        if (ended) return Promise.resolve(END);
        const delivery = this.#waiting.shift();
        if (delivery === undefined) return this.#next();
        this.#intake.remove(delivery.message.payload.length);
        return Promise.resolve({ done: false, value: delivery });
      },
      return: () => {
        end();
        return Promise.resolve(END);
      },
    };
  }

  #next(): Promise<IteratorResult<Delivery>> {
    return new Promise((resolve) => {
      this.#wanted = resolve;
    });
  }
}
