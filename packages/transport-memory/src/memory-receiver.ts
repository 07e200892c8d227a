import type { Clock, Delivery, Receiver } from "@bridge/ports";
import type { DeliveryTraits } from "./loan.ts";
import type { MemoryChannel } from "./memory-channel.ts";
import { MemoryConsumer } from "./memory-consumer.ts";
import type { MemorySession } from "./memory-session.ts";

export interface MemoryReceiverDeps {
  readonly channel: MemoryChannel;
  readonly traits: DeliveryTraits;
  readonly clock: Clock;
  readonly session: MemorySession | undefined;
}

/** Takes messages out of a channel. */
export class MemoryReceiver implements Receiver {
  readonly #deps: MemoryReceiverDeps;
  readonly #open = new Set<MemoryConsumer>();
  #disposed = false;

  constructor(deps: MemoryReceiverDeps) {
    this.#deps = deps;
    deps.channel.isSource = true;
    deps.session?.subscriptions.add(deps.channel.name);
  }

  async open(signal: AbortSignal): Promise<void> {
    await this.#deps.channel.opens.pass(signal);
  }

  receive(signal: AbortSignal): AsyncIterable<Delivery> {
    return { [Symbol.asyncIterator]: () => this.#iterate(signal) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    for (const consumer of this.#open) void consumer.return();
  }

  #iterate(signal: AbortSignal): MemoryConsumer {
    const { channel, traits, clock, session } = this.#deps;
    let interrupts: Disposable | undefined;
    const consumer = new MemoryConsumer(channel, traits, clock, signal, (ended) => {
      this.#open.delete(ended);
      session?.remove(ended);
      interrupts?.[Symbol.dispose]();
    });
    if (signal.aborted) return consumer;
    this.#open.add(consumer);
    if (this.#disposed) {
      void consumer.return();
    } else if (session === undefined) {
      interrupts = channel.onInterrupt((cause) => consumer.fail(cause));
      consumer.attach();
    } else {
      session.add(consumer, channel.name);
    }
    return consumer;
  }
}
