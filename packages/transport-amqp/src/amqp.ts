import { givenOptions, moreOptions, splitUrl } from "@bridge/ports/internal";
import {
  type AddressedSender,
  addressedSender,
  type RateLimited,
  type ReceiverDefinition,
  sendersOf,
  type SessionDefinition,
  type TargetDefinition,
  type TransportMaker,
  type TransportPlugin,
  type WithSessionMode,
} from "@bridge/ports";
import { amqpTransport } from "./amqp-transport.ts";
import type { AmqpReceiverOptions, AmqpSenderOptions, AmqpSessionOptions } from "./option-types.ts";

const SUCH = 'an object, such as { url: "amqp://127.0.0.1" }';

/** A broker of AMQP 0-9-1, in code: one session, which everything that is made with it shares. */
export interface AmqpBroker extends SessionDefinition {
  /** Takes messages from a queue: for `from`. */
  queue(name: string, options?: Omit<AmqpReceiverOptions, "queue">): ReceiverDefinition;
  /** Publishes to an exchange; `at(routingKey)` is a target there. */
  exchange(name: string, options?: Omit<AmqpSenderOptions, "exchange"> & RateLimited): AddressedSender;
  /** Publishes to the default exchange, where a routing key is the name of a queue: for `to`. */
  at(routingKey: string, options?: Omit<AmqpSenderOptions, "exchange"> & RateLimited): TargetDefinition;
}

/** The transport `amqp`, for definitions in code and for registries. */
export interface AmqpAdapter extends TransportMaker {
  /** A session at a broker. Its URL may hold the user and the password. */
  (options: AmqpSessionOptions & WithSessionMode): AmqpBroker;
  /** The plugin itself, for those who wrap it. */
  plugin(): TransportPlugin;
}

/**
 * AMQP 0-9-1, as RabbitMQ speaks it.
 *
 * @example
 * const rabbit = amqp({ url: "amqp://user:password@127.0.0.1" });
 * const routes = {
 *   orders: { from: rabbit.queue("orders", { prefetch: 200 }), to: rabbit.exchange("events").at("orders.{region}") },
 * };
 */
export const amqp: AmqpAdapter = Object.assign(
  (given: AmqpSessionOptions & WithSessionMode): AmqpBroker => {
    const { session_mode: mode, ...options } = givenOptions("amqp", given, SUCH);
    const session: SessionDefinition = { kind: "session", transport: amqp, mode, ...withoutUser(options) };
    const link = { transport: amqp, session };
    return Object.assign(session, {
      queue: (name: string, more?: Omit<AmqpReceiverOptions, "queue">): ReceiverDefinition => ({
        kind: "receiver",
        ...link,
        options: { ...moreOptions("a queue of amqp", more), queue: name },
      }),
      exchange: (name: string, more?: Omit<AmqpSenderOptions, "exchange"> & RateLimited) =>
        addressedSender(link, { ...moreOptions("an exchange of amqp", more), exchange: name }),
      at: sendersOf<Omit<AmqpSenderOptions, "exchange">>(link).at,
    });
  },
  { type: "amqp", plugin: () => amqpTransport },
);

/** Where the options name a user, the URL has to hold none. */
function withoutUser(options: AmqpSessionOptions): Pick<SessionDefinition, "options" | "hidden"> {
  const { url, ...user } = splitUrl(options.url);
  if (options.username !== undefined || options.password !== undefined) return { options: { ...options } };
  return { options: { ...options, url, ...user }, hidden: Object.keys(user) };
}
