import type { Delivery, Receiver, SourceMessage, TransportPlugin } from "@bridge/ports";
import type { BridgeConfig } from "@bridge/config";
import type { MemoryBridgeOptions } from "./memory-bridge.ts";

/** A source that a test hands anything through, as an adapter of somebody else's might. */
export class HandSource {
  readonly settled: unknown[] = [];
  /** Takes the place of the next iteration that is begun. */
  next: Receiver["receive"] | undefined;
  readonly #queue: unknown[] = [];
  #wake = Promise.withResolvers<void>();

  /** Hands over a message, with what a delivery may have besides. */
  message(message: unknown, more: object = {}): void {
    this.anything({ message, settle: (settlement: unknown) => void this.settled.push(settlement), ...more });
  }

  plain(id: string): void {
    this.message({ id, subject: "plain", payload: Buffer.from(id) } satisfies SourceMessage);
  }

  anything(yielded: unknown): void {
    this.#queue.push(yielded);
    this.#wake.resolve();
  }

  /** The options of a memory bridge whose receiver is this source. */
  options(): Pick<MemoryBridgeOptions, "transports" | "config"> {
    return {
      transports: (memory) => [{ ...memory, type: "by-hand", receiver: this.#factory(memory) }],
      config: (config: BridgeConfig) => ({
        ...config,
        receivers: config.receivers.map((receiver) => ({ ...receiver, transport: "by-hand" })),
      }),
    };
  }

  #factory({ receiver }: TransportPlugin): NonNullable<TransportPlugin["receiver"]> {
    if (receiver === undefined) throw new Error("no receiver");
    return {
      ...receiver,
      create: () => ({
        receive: (signal) => {
          const { next } = this;
          this.next = undefined;
          return next === undefined ? this.#receive(signal) : next(signal);
        },
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }),
    };
  }

  async *#receive(signal: AbortSignal): AsyncIterable<Delivery> {
    signal.addEventListener("abort", () => this.#wake.resolve(), { once: true });
    while (!signal.aborted) {
      const yielded = this.#queue.shift();
      if (yielded !== undefined) {
        yield yielded as Delivery;
        continue;
      }
      await this.#wake.promise;
      if (!signal.aborted) this.#wake = Promise.withResolvers();
    }
  }
}
