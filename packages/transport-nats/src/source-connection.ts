import { setImmediate as turn } from "node:timers/promises";
import { BridgeError, type Clock, type Connection, type Logger, systemClock } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import { jetstreamManager } from "@nats-io/jetstream";
import type { PermissionViolationError } from "@nats-io/transport-node";
import { WORKING } from "./ack-ledger.ts";
import { probeSubject } from "./ack-subject.ts";
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
  /** Where receivers were not allowed to settle, on any connection: before they consume again they ask whether they may. */
  readonly unsettling: Map<NatsReceiver, string>;
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
  /** Subjects that the server has refused, those of one consumer's acknowledgements as one. */
  readonly #denied = new Set<string>();
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

  /** The server does not let us publish, or listen, there. A consumer that cannot do without ends with the connection. */
  denied({ operation, subject, message }: PermissionViolationError): void {
    if (this.#denied.has(subject)) return;
    for (const [receiver, { name, pullSubject }] of this.#consumers) {
      const probe = probeSubject(subject, receiver.options.stream, name);
      if (operation !== "publish" || (subject !== pullSubject && probe === undefined)) continue;
      const refused = probe ?? subject;
      if (this.#denied.has(refused)) return;
      this.#denied.add(refused);
      if (probe !== undefined) this.#parts.unsettling.set(receiver, probe);
      else if (this.#attempts.has(receiver)) return;
      void this.#end(forbidden(receiver, refused));
      return;
    }
    this.#denied.add(subject);
    // An attempt tells itself what it could not do.
    if (this.#attempts.size === 0) this.#parts.logger.warn("the server does not allow it", { error: message });
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
    using bound = deadline(systemClock, CLOSE_TIMEOUT_MS, new BridgeError("TIMEOUT", "the server reads nothing"));
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
      await this.#checkSettling(receiver);
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
      await this.#checkPulling(consumer);
      this.#problems.delete(receiver);
    } catch (thrown) {
      const error = BridgeError.from(thrown);
      if (this.#wire.gone || this.#ending !== undefined || this.#problems.get(receiver) === error.message) return;
      this.#problems.set(receiver, error.message);
      const fields = { receiver_id: receiver.id, stream: receiver.options.stream };
      logger.warn("a stream cannot be consumed", { ...fields, code: error.code, error: error.message });
    }
  }

  /** Where settling was refused before, nothing is taken until it is allowed: all of it would come again and again. */
  async #checkSettling(receiver: NatsReceiver): Promise<void> {
    const { unsettling } = this.#parts;
    const probe = unsettling.get(receiver);
    if (probe === undefined) return;
    this.#wire.connection.publish(probe, WORKING);
    if (await this.#isDenied(probe)) throw forbidden(receiver, probe);
    unsettling.delete(receiver);
  }

  async #checkPulling(consumer: StreamConsumer): Promise<void> {
    if (!(await this.#isDenied(consumer.pullSubject))) return;
    const error = forbidden(consumer.receiver, consumer.pullSubject);
    this.#consumers.delete(consumer.receiver);
    await consumer.close(error);
    throw error;
  }

  /** Whether the server refuses what was just published there: it says so before it answers what comes behind. */
  async #isDenied(subject: string): Promise<boolean> {
    await this.#wire.flush();
    await turn();
    return this.#denied.delete(subject);
  }
}

function forbidden({ options: { stream, consumer } }: NatsReceiver, subject: string): BridgeError {
  const shown = subject.replace(/(?:\.0){5}$/, ".>");
  // The server names ephemeral consumers, each time anew.
  const needed = consumer === undefined ? shown.replace(/[^.]+(?=(?:\.>)?$)/, "*") : shown;
  return new BridgeError(
    "FORBIDDEN",
    `stream ${stream} cannot be consumed: the server does not let the bridge publish to ${needed}, add that to its permissions`,
  );
}
