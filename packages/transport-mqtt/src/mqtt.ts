import { givenOptions, kindOf, moreOptions, splitUrls } from "@bridge/ports/internal";
import {
  type AddressedSender,
  type RateLimited,
  type ReceiverDefinition,
  sendersOf,
  type SessionDefinition,
  type TargetDefinition,
  type TopicDefinition,
  type TransportMaker,
  type TransportPlugin,
  type WithSessionMode,
} from "@bridge/ports";
import { mqttTransport } from "./mqtt-transport.ts";
import type { MqttSenderOptions, MqttSessionOptions } from "./option-types.ts";

const SUCH = 'an object, such as { broker_urls: ["mqtt://127.0.0.1"] }';

/** A broker of MQTT, in code: one session, which everything that is made with it shares. */
export interface MqttBroker extends SessionDefinition {
  /** Subscribes to a topic filter: for `from`. */
  topic(filter: string, options?: Omit<TopicDefinition, "topic">): ReceiverDefinition;
  /** Subscribes to several topic filters: for `from`. */
  topics(filters: readonly [TopicDefinition | string, ...(TopicDefinition | string)[]]): ReceiverDefinition;
  /** Publishes to a topic, which may hold placeholders: for `to`. */
  at(topic: string, options?: MqttSenderOptions & RateLimited): TargetDefinition;
  /** A sender that several targets share. */
  sender(options?: MqttSenderOptions & RateLimited): AddressedSender;
}

/** The transport `mqtt`, for definitions in code and for registries. */
export interface MqttAdapter extends TransportMaker {
  /** A session at a broker. The URLs may hold the user and the password, all the same. */
  (options: MqttSessionOptions & WithSessionMode): MqttBroker;
  /** The plugin itself, for those who wrap it. */
  plugin(): TransportPlugin;
}

/**
 * MQTT 5 and 3.1.1.
 *
 * @example
 * const broker = mqtt({ broker_urls: ["mqtt://127.0.0.1"] });
 * const routes = { readings: { from: broker.topic("plant/+/readings", { qos: 1 }), to: broker.at("all/readings") } };
 */
export const mqtt: MqttAdapter = Object.assign(
  (given: MqttSessionOptions & WithSessionMode): MqttBroker => {
    const { session_mode: mode, ...options } = givenOptions("mqtt", given, SUCH);
    const session: SessionDefinition = { kind: "session", transport: mqtt, mode, ...withoutUser(options) };
    const link = { transport: mqtt, session };
    const topics = (filters: readonly (TopicDefinition | string)[]): ReceiverDefinition => {
      if (!Array.isArray(filters))
        throw new TypeError(`topics of mqtt are ${kindOf(filters)}: give it a list of filters`);
      const named = filters.map((filter: TopicDefinition | string) =>
        typeof filter === "string" ? { topic: filter } : filter,
      );
      return { kind: "receiver", ...link, topics: named, options: {} };
    };
    return Object.assign(session, sendersOf<MqttSenderOptions>(link), {
      topics,
      topic: (topic: string, more?: Omit<TopicDefinition, "topic">) =>
        topics([{ ...moreOptions("a topic of mqtt", more), topic }]),
    });
  },
  { type: "mqtt", plugin: () => mqttTransport },
);

/** Where the options name a user, the URLs have to hold none. */
function withoutUser(options: MqttSessionOptions): Pick<SessionDefinition, "options" | "hidden"> {
  const { urls, ...user } = splitUrls(options.broker_urls);
  if (options.username !== undefined || options.password !== undefined) return { options: { ...options } };
  return { options: { ...options, broker_urls: urls, ...user }, hidden: Object.keys(user) };
}
