import { BridgeError, type Clock, type Connection, deadline, type Logger, orAborted } from "@bridge/ports";
import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsReceiver } from "./nats-receiver.ts";
import { takesReasons } from "./server-version.ts";
import { StreamConsumer } from "./stream-consumer.ts";
import type { Wire } from "./wire.ts";

/** How long a server may take to read what was settled before we leave. */
const CLOSE_TIMEOUT_MS = 2_000;

export interface SourceParts {
  readonly receivers: ReadonlySet<NatsReceiver>;
  /** The names of the ephemeral consumers that receivers have had; of this connection they are noted here. */
  readonly ephemeral: Map<NatsReceiver, string>;
  /** The bound of one request to JetStream. */
  readonly timeoutMs: number;
  readonly heartbeatMs: number;
  readonly inboxPrefix: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A connection that receives. */
export class SourceConnection implements Connection {
  readonly #parts: SourceParts;
  readonly #consumers = new Map<NatsReceiver, StreamConsumer>();
  readonly #attempts = new Map<NatsReceiver, Promise<void>>();
  /** What was said last of a receiver that cannot consume. */
  readonly #problems = new Map<NatsReceiver, string>();
  readonly #wire: Wire;
  #ending: Promise<void> | undefined;

  constructor(wire: Wire, parts: SourceParts) {
    this.#wire = wire;
    this.#parts = parts;
  }

  get closed(): Promise<BridgeError | undefined> {
    return this.#wire.closed;
  }

  counters(): Readonly<Record<string, number>> {
    const sums: Record<string, number> = { unacknowledged: 0, extended: 0, copies: 0, pulls: 0 };
    for (const { counters } of this.#consumers.values())
      for (const [name, count] of Object.entries(counters)) sums[name] = (sums[name] ?? 0) + count;
    return sums;
  }

  async reconcile(signal: AbortSignal): Promise<ReadonlySet<string>> {
    const { receivers } = this.#parts;
    const idle = [...receivers].filter((receiver) => !this.#consumers.has(receiver));
    await orAborted(Promise.all(idle.map((receiver) => this.#attempt(receiver))), signal);
    return new Set(Array.from(this.#consumers.keys(), ({ id }) => id));
  }

  /** The connection is gone. */
  lost(cause: BridgeError): void {
    for (const consumer of this.#consumers.values()) consumer.lose(cause);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#end(undefined);
  }

  /** Ends it in order: what is settled is told first, and the rest given back, so that others need not wait for it. */
  #end(cause: BridgeError | undefined): Promise<void> {
    this.#ending ??= this.#close(cause);
    return this.#ending;
  }

  async #close(cause: BridgeError | undefined): Promise<void> {
    const error = cause ?? new BridgeError("CONNECTION_LOST", "the connection was closed");
    const consumers = Promise.all(Array.from(this.#consumers.values(), (consumer) => consumer.close(error)));
    using bound = deadline(CLOSE_TIMEOUT_MS, new BridgeError("TIMEOUT", "the server reads nothing"));
    const reads = await orAborted(consumers, bound.signal).then(
      () => true,
      () => false,
    );
    await this.#wire.close(cause, { reads });
  }

  /** One at a time, also when the one before was given up waiting for. */
  #attempt(receiver: NatsReceiver): Promise<void> {
    let attempt = this.#attempts.get(receiver);
    if (attempt === undefined) {
      attempt = this.#consume(receiver).finally(() => this.#attempts.delete(receiver));
      this.#attempts.set(receiver, attempt);
    }
    return attempt;
  }

  /** What is not there may come: the engine asks again, and others are served meanwhile. */
  async #consume(receiver: NatsReceiver): Promise<void> {
    const { ephemeral, timeoutMs, logger, clock, heartbeatMs, inboxPrefix } = this.#parts;
    const { connection } = this.#wire;
    try {
      const manager = await jetstreamManager(connection, { checkAPI: false, timeout: timeoutMs });
      const consumer = await StreamConsumer.open(receiver, ephemeral.get(receiver), {
        connection,
        manager,
        clock,
        logger,
        inboxPrefix,
        heartbeatMs,
        takesReasons: takesReasons(connection.info?.version),
        lost: (error) => void this.#end(error),
      });
      if (receiver.options.consumer === undefined) ephemeral.set(receiver, consumer.name);
      if (this.#ending === undefined && !this.#wire.gone) this.#consumers.set(receiver, consumer);
      else consumer.lose(new BridgeError("CONNECTION_LOST", "the connection was closed"));
      this.#problems.delete(receiver);
    } catch (thrown) {
      const error = BridgeError.from(thrown);
      if (this.#wire.gone || this.#ending !== undefined || this.#problems.get(receiver) === error.message) return;
      this.#problems.set(receiver, error.message);
      const fields = { receiver_id: receiver.id, stream: receiver.options.stream };
      logger.warn("a stream cannot be consumed", { ...fields, code: error.code, error: error.message });
    }
  }
}
