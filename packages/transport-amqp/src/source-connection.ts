import { BridgeError, type Connection, type Logger, systemClock } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import type { AmqpReceiver } from "./amqp-receiver.ts";
import { QueueConsumer } from "./queue-consumer.ts";
import type { Wire } from "./wire.ts";

/** How long a broker may take to close the channels that we have taken leave on. */
const CLOSE_TIMEOUT_MS = 2_000;

export interface SourceParts {
  readonly receivers: ReadonlySet<AmqpReceiver>;
  /** The bound of one attempt to consume. */
  readonly timeoutMs: number;
  readonly logger: Logger;
}

/** A connection that receives. */
export class SourceConnection implements Connection {
  readonly #parts: SourceParts;
  readonly #consumers = new Map<AmqpReceiver, QueueConsumer>();
  readonly #attempts = new Map<AmqpReceiver, Promise<void>>();
  /** What was said last of a receiver that cannot consume. */
  readonly #problems = new Map<AmqpReceiver, string>();
  readonly #wire: Wire;
  #ending: Promise<void> | undefined;

  constructor(wire: Wire, parts: SourceParts) {
    this.#wire = wire;
    this.#parts = parts;
  }

  get closed(): Promise<BridgeError | undefined> {
    return this.#wire.closed;
  }

  get unacknowledged(): number {
    let unacknowledged = 0;
    for (const { ledger } of this.#consumers.values()) unacknowledged += ledger.outstanding;
    return unacknowledged;
  }

  async reconcile(signal: AbortSignal): Promise<ReadonlySet<string>> {
    const { receivers, timeoutMs } = this.#parts;
    using bound = deadline(
      systemClock,
      timeoutMs,
      new BridgeError("TIMEOUT", "the broker does not answer on its channels"),
    );
    const idle = [...receivers].filter((receiver) => !this.#consumers.has(receiver));
    await orAborted(
      Promise.all(idle.map((receiver) => this.#attempt(receiver))),
      AbortSignal.any([signal, bound.signal]),
    );
    return new Set(Array.from(this.#consumers.keys(), ({ id }) => id));
  }

  /** The connection is gone. */
  lost(cause: BridgeError): void {
    for (const consumer of this.#consumers.values()) consumer.lose(cause);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#end(undefined);
  }

  /** Ends it in order: what was accepted is acknowledged first, so that nothing comes twice that need not. */
  #end(cause: BridgeError | undefined): Promise<void> {
    this.#ending ??= this.#close(cause);
    return this.#ending;
  }

  async #close(cause: BridgeError | undefined): Promise<void> {
    const error = cause ?? new BridgeError("CONNECTION_LOST", "the connection was closed");
    const channels = Promise.all(Array.from(this.#consumers.values(), (consumer) => consumer.close(error)));
    using bound = deadline(
      systemClock,
      CLOSE_TIMEOUT_MS,
      new BridgeError("TIMEOUT", "the broker did not close its channels"),
    );
    try {
      await orAborted(channels, bound.signal);
    } catch (late) {
      this.#wire.lose(cause ?? BridgeError.from(late));
    }
    await this.#wire.close(cause);
  }

  /** One at a time, also when the one before was given up waiting for. */
  #attempt(receiver: AmqpReceiver): Promise<void> {
    let attempt = this.#attempts.get(receiver);
    if (attempt === undefined) {
      attempt = this.#consume(receiver).finally(() => this.#attempts.delete(receiver));
      this.#attempts.set(receiver, attempt);
    }
    return attempt;
  }

  /** A queue that is not there may come: the engine asks again, and others are served meanwhile. */
  async #consume(receiver: AmqpReceiver): Promise<void> {
    try {
      const consumer = await QueueConsumer.open(receiver, this.#wire, (error) => void this.#end(error));
      if (this.#ending === undefined && !this.#wire.gone) this.#consumers.set(receiver, consumer);
      else consumer.lose(new BridgeError("CONNECTION_LOST", "the connection was closed"));
      this.#problems.delete(receiver);
    } catch (thrown) {
      const error = BridgeError.from(thrown);
      if (this.#wire.gone || this.#ending !== undefined || this.#problems.get(receiver) === error.message) return;
      this.#problems.set(receiver, error.message);
      const { id, options } = receiver;
      const fields = { receiver_id: id, queue: options.queue, code: error.code, error: error.message };
      this.#parts.logger.warn("a queue cannot be consumed", fields);
    }
  }
}
