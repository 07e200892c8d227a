import { BridgeError, type Connection, type Logger, systemClock } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import type { IConnackPacket, IPublishPacket } from "mqtt-packet";
import { AckLedger, type AckOrder, type Held } from "./ack-ledger.ts";
import { AckWriter } from "./ack-writer.ts";
import { type Inbound, inbound } from "./inbound-message.ts";
import type { Intake } from "./intake.ts";
import { MqttDelivery } from "./mqtt-delivery.ts";
import type { MqttReceiver } from "./mqtt-receiver.ts";
import { isFailure, reasonError } from "./reason-codes.ts";
import type { Subscription, Subscriptions } from "./subscriptions.ts";
import type { Wire, WireHandlers } from "./wire.ts";

/** Some brokers take no more filters in one packet. */
export const FILTERS_PER_PACKET = 8;
const UNSPECIFIED_ERROR = 0x80;

export interface SourceConnectionDeps {
  /** Begins to connect; called once. */
  readonly wire: (handlers: WireHandlers) => Wire;
  readonly subscriptions: Subscriptions<MqttReceiver>;
  readonly receivers: Iterable<MqttReceiver>;
  /** Filters that the broker keeps for this client, as far as this process has made them: kept up to date here. */
  readonly kept: Set<string>;
  readonly intake: Intake;
  readonly counts: SourceCounts;
  readonly ackOrder: AckOrder;
  readonly idProperty: string;
  readonly retainAsPublished: boolean;
  /** The bound of a subscription. */
  readonly timeoutMs: number;
  readonly now: () => number;
  readonly logger: Logger;
}

/** What a session counts over all its connections. */
export interface SourceCounts {
  received: number;
  acknowledged: number;
  /** Messages that no receiver has a topic for. */
  unmatched: number;
}

/** A connection that receives: hands messages to the receivers and acknowledges what they have accepted. */
export class SourceConnection implements Connection {
  readonly wire: Wire;
  readonly #deps: SourceConnectionDeps;
  readonly #acks: AckWriter;
  readonly #ledger: AckLedger;
  readonly #granted = new Set<string>();
  readonly #refused = new Set<string>();
  #identifiers = false;
  #closing = false;
  #unmatched = false;

  constructor(deps: SourceConnectionDeps) {
    this.#deps = deps;
    this.wire = deps.wire({
      published: (packet) => this.#published(packet),
      acknowledged: () => {},
      gone: (cause) => this.#gone(cause),
    });
    this.#acks = new AckWriter(this.wire.stream, (count) => (deps.counts.acknowledged += count));
    this.#ledger = new AckLedger(deps.ackOrder, (packetId) => this.#acks.acknowledge(packetId));
  }

  get closed(): Promise<BridgeError | undefined> {
    return this.wire.closed;
  }

  /** Tells what the broker can do, as it has accepted the connection. */
  accepted({ properties }: IConnackPacket, version: 4 | 5): void {
    this.#identifiers = version === 5 && properties?.subscriptionIdentifiersAvailable !== false;
  }

  /**
   * The broker's answer may stand behind more messages than can be taken in, as when it repeats a backlog while no
   * target takes any. Then what it has not refused counts as acknowledged: the messages show that it is subscribed.
   */
  async reconcile(signal: AbortSignal): Promise<ReadonlySet<string>> {
    const { subscriptions, timeoutMs } = this.#deps;
    const missing = [...subscriptions].filter(({ filter }) => !this.#granted.has(filter));
    const packets = this.#identifiers && subscriptions.ambiguous ? eachAlone(missing) : together(missing);
    using bound = deadline(
      systemClock,
      timeoutMs,
      new BridgeError("TIMEOUT", "the broker did not answer a subscription"),
    );
    const left = this.#leaveFormer();
    const answered = Promise.all([left, ...packets.map((packet) => this.#subscribe(packet))]).then(() => this.#granted);
    const covered = this.wire.holding.then(() => subscriptions.filters.difference(this.#refused));
    return new Set(await orAborted(orAborted(Promise.race([answered, covered]), bound.signal), signal));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#closing) {
      this.#closing = true;
      this.#ledger.finish();
      this.#acks.flush();
      this.#gone(undefined);
    }
    await this.wire.close();
  }

  /** What an earlier configuration has subscribed to would go on coming, and nobody can ask the broker for it. */
  async #leaveFormer(): Promise<void> {
    const { kept, subscriptions, logger } = this.#deps;
    const former = [...kept.difference(subscriptions.filters)];
    for (let from = 0; from < former.length; from += FILTERS_PER_PACKET) {
      const filters = former.slice(from, from + FILTERS_PER_PACKET);
      await this.wire.unsubscribe(filters);
      for (const filter of filters) kept.delete(filter);
      logger.info("unsubscribed from what no receiver has a topic for any more", { filters });
    }
  }

  async #subscribe({ qos, identifier, subscriptions }: SubscribePacket): Promise<void> {
    const { logger, retainAsPublished } = this.#deps;
    const filters = subscriptions.map(({ filter }) => filter);
    const codes = await this.wire.subscribe(filters, { qos, identifier, retainAsPublished });
    for (const [index, filter] of filters.entries()) {
      const code = codes[index] ?? UNSPECIFIED_ERROR;
      if (isFailure(code)) {
        this.#refused.add(filter);
        logger.warn("subscription not granted", { filter, error: reasonError("refused by the broker", code).message });
        continue;
      }
      this.#refused.delete(filter);
      this.#granted.add(filter);
      this.#deps.kept.add(filter);
      if (code < qos)
        logger.warn("subscription granted at QoS 0 only: unsettled messages will not come back", { filter });
    }
  }

  #published(packet: IPublishPacket): boolean {
    if (this.#closing) return true;
    const { subscriptions, intake, counts, idProperty, now } = this.#deps;
    counts.received++;
    const receivers = subscriptions.receiversOf(packet.topic, packet.properties?.subscriptionIdentifier);
    const held = packet.qos === 1 ? this.#ledger.open(packet.messageId ?? 0, Math.max(receivers.length, 1)) : undefined;
    const message = inbound(packet, idProperty, now);
    if (receivers.length === 0) this.#handOverUnmatched(packet, message, held);
    for (const receiver of receivers) receiver.push(new MqttDelivery(message, held));
    return !intake.full;
  }

  /**
   * A session may still have subscriptions of an earlier configuration, whose filters nobody knows any more. Their messages
   * go to the dead letters of some route of the session: not acknowledged they would take up the broker's window for ever.
   */
  #handOverUnmatched({ topic }: IPublishPacket, { message }: Inbound, held: Held | undefined): void {
    const { counts, receivers, logger } = this.#deps;
    counts.unmatched++;
    const undecodable = new BridgeError(
      "UNROUTED",
      "no receiver has a topic for it: the broker still has a subscription",
    );
    const [receiver] = receivers;
    receiver?.push(new MqttDelivery({ message, undecodable }, held));
    if (this.#unmatched) return;
    this.#unmatched = true;
    logger.warn("the broker sends messages that no receiver has a topic for: they are refused as UNROUTED", { topic });
  }

  #gone(cause: BridgeError | undefined): void {
    const error = cause ?? new BridgeError("CONNECTION_LOST", "the connection that the message came by is closed");
    this.#ledger.lose(error);
    for (const receiver of this.#deps.receivers) receiver.withdraw(this.#ledger.signal);
  }
}

/** What is asked for in one packet. */
interface SubscribePacket {
  readonly qos: 0 | 1;
  readonly identifier: number | undefined;
  readonly subscriptions: readonly Subscription<MqttReceiver>[];
}

/** An identifier is that of all subscriptions in its packet. */
function eachAlone(subscriptions: readonly Subscription<MqttReceiver>[]): readonly SubscribePacket[] {
  return subscriptions.map((one) => ({ qos: one.qos, identifier: one.identifier, subscriptions: [one] }));
}

function together(subscriptions: readonly Subscription<MqttReceiver>[]): readonly SubscribePacket[] {
  return ([0, 1] as const).flatMap((qos) => {
    const alike = subscriptions.filter((subscription) => subscription.qos === qos);
    return Array.from({ length: Math.ceil(alike.length / FILTERS_PER_PACKET) }, (_, i) => ({
      qos,
      identifier: undefined,
      subscriptions: alike.slice(i * FILTERS_PER_PACKET, (i + 1) * FILTERS_PER_PACKET),
    }));
  });
}
