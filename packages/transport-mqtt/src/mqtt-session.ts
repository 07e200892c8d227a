import { BridgeError, type Connection, type Session, type SessionContext, type Topic } from "@bridge/ports";
import { ServersInTurn } from "@bridge/ports/internal";
import type { IConnackPacket } from "mqtt-packet";
import { type BrokerUrl, parseBrokerUrl } from "./broker-url.ts";
import { Intake, type IntakeLimits } from "./intake.ts";
import { keptFilters } from "./kept-filters.ts";
import { clientIdOf, clientOptions, keepsSession } from "./link-options.ts";
import { MqttReceiver } from "./mqtt-receiver.ts";
import type { SessionOptions } from "./options.ts";
import type { Publisher } from "./publisher.ts";
import { SourceConnection, type SourceCounts } from "./source-connection.ts";
import { Subscriptions } from "./subscriptions.ts";
import { TargetConnection } from "./target-connection.ts";
import { filterProblem, overlaps, patternOf } from "./topic.ts";
import { Wire, type WireHandlers } from "./wire.ts";

/** Enough to keep the routes busy; what waits longer only costs memory. */
const WAITING: IntakeLimits = { messages: 100, bytes: 16 * 1024 * 1024 };

/** One half of a session of MQTT: makes its connections, one at a time, and knows its receivers. */
export class MqttSession implements Session {
  readonly #options: SessionOptions;
  readonly #context: SessionContext;
  readonly #brokers: ServersInTurn<BrokerUrl>;
  readonly #receivers = new Set<MqttReceiver>();
  readonly #wanted = new Subscriptions<MqttReceiver>();
  readonly #intake: Intake;
  readonly #counts: SourceCounts = { received: 0, acknowledged: 0, unmatched: 0 };
  readonly #disposed = new AbortController();
  #current: SourceConnection | TargetConnection | undefined;
  #connectedBefore = false;

  constructor(options: SessionOptions, context: SessionContext) {
    this.#options = options;
    this.#context = context;
    this.#brokers = new ServersInTurn("broker", options.broker_urls.map(parseBrokerUrl));
    this.#intake = new Intake(WAITING, () => this.#current?.wire.resume());
  }

  get subscriptions(): ReadonlySet<string> {
    return this.#wanted.filters;
  }

  get idProperty(): string {
    return this.#options.id_property;
  }

  get hasProperties(): boolean {
    return this.#options.protocol_version === 5;
  }

  /** Where messages can be sent right now. */
  get publisher(): Publisher | undefined {
    return this.#current instanceof TargetConnection ? this.#current.publisher : undefined;
  }

  /** @throws Error when a topic is no topic filter */
  addReceiver(id: string, topics: readonly Topic[]): MqttReceiver {
    if (this.#context.role !== "source")
      throw new Error(`the target half of session ${this.#context.id} has no receivers`);
    for (const { topic } of topics) {
      const problem = filterProblem(topic);
      if (problem !== undefined) throw new Error(`receiver ${id}: the topic "${topic}" ${problem}`);
    }
    const receiver = new MqttReceiver(topics, this.#intake);
    this.#receivers.add(receiver);
    for (const { topic, qos } of topics) this.#wanted.add(topic, qos, receiver);
    this.#warnOfOverlaps(id, topics);
    return receiver;
  }

  connect(signal: AbortSignal): Promise<Connection> {
    const bounds = { signal, disposed: this.#disposed.signal, timeoutMs: this.#options.connect_timeout };
    return this.#brokers.connect(bounds, (server, attempt) => this.#connectTo(server, attempt));
  }

  counters(): Readonly<Record<string, number>> {
    const { publisher } = this;
    return this.#context.role === "source"
      ? {
          ...this.#counts,
          waiting: this.#intake.messages,
          waiting_bytes: this.#intake.bytes,
          pauses: this.#intake.pauses,
        }
      : { waiting: publisher?.waiting ?? 0, unanswered: publisher?.unanswered ?? 0 };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed.abort(new BridgeError("CONNECTION_LOST", `session ${this.#context.id} is disposed`));
    await this.#current?.[Symbol.asyncDispose]();
  }

  async #connectTo(broker: BrokerUrl, signal: AbortSignal): Promise<Connection> {
    signal.throwIfAborted();
    const client = await clientOptions(this.#options, this.#context, broker);
    const options = { client, label: broker.label, maxMessageBytes: this.#options.max_message_bytes };
    const wire = (handlers: WireHandlers): Wire => {
      try {
        return new Wire(options, this.#context.clock, handlers);
      } catch (error) {
        const { message } = error as Error;
        throw new BridgeError("UNAVAILABLE", `${broker.label}: the options of the session are of no use: ${message}`);
      }
    };
    const connection =
      this.#context.role === "target" ? new TargetConnection(wire, this.#context.clock) : this.#sourceConnection(wire);
    this.#current = connection;
    const connack = await connection.wire.opened(signal);
    connection.accepted(connack, this.#options.protocol_version);
    this.#noteSession(connack);
    return connection;
  }

  #sourceConnection(wire: (handlers: WireHandlers) => Wire): SourceConnection {
    return new SourceConnection({
      wire,
      subscriptions: this.#wanted,
      receivers: this.#receivers,
      kept: keepsSession(this.#context) ? keptFilters(this.#options, this.#context) : new Set(),
      intake: this.#intake,
      counts: this.#counts,
      ackOrder: this.#options.ack_order,
      retainAsPublished: this.#options.retain_as_published,
      idProperty: this.#options.id_property,
      timeoutMs: this.#options.connect_timeout,
      now: () => this.#context.clock.now(),
      logger: this.#context.logger,
    });
  }

  #noteSession({ sessionPresent, properties }: IConnackPacket): void {
    const { logger } = this.#context;
    if (!keepsSession(this.#context)) return;
    const fields = { client_id: clientIdOf(this.#options, this.#context) };
    if (this.#connectedBefore && !sessionPresent) {
      logger.warn("the broker has not kept the session: what it held for it is lost", fields);
    } else if (!sessionPresent) {
      // The first one of all, or one that came too late: nobody but who runs it can know.
      logger.info("the broker has no session of this client yet: what was published before is not in it", fields);
    }
    this.#connectedBefore = true;
    const granted = properties?.sessionExpiryInterval;
    if (granted !== undefined && granted * 1_000 < this.#options.session_expiry) {
      logger.warn("the broker keeps the session for less than session_expiry", { granted_seconds: granted });
    }
  }

  #warnOfOverlaps(id: string, topics: readonly Topic[]): void {
    for (const [index, { topic }] of topics.entries()) {
      const other = topics.slice(index + 1).find((later) => overlaps(patternOf(topic), patternOf(later.topic)));
      if (other === undefined) continue;
      this.#context.logger.warn("topics of one receiver overlap: a broker may send a message once for each", {
        receiver_id: id,
        topics: [topic, other.topic],
      });
    }
  }
}
