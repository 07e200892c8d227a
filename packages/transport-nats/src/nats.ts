import { givenOptions, moreOptions, splitUrls } from "@bridge/ports/internal";
import {
  type AddressedSender,
  type RateLimited,
  type ReceiverDefinition,
  sendersOf,
  type SessionDefinition,
  type TargetDefinition,
  type TransportMaker,
  type TransportPlugin,
  type WithSessionMode,
} from "@bridge/ports";
import { natsTransport } from "./nats-transport.ts";
import type { NatsReceiverOptions, NatsSenderOptions, NatsSessionOptions } from "./option-types.ts";

const SUCH = 'an object, such as { servers: ["nats://127.0.0.1"] }';

/** A cluster of NATS servers, in code: one session, which everything that is made with it shares. */
export interface NatsCluster extends SessionDefinition {
  /** Takes messages from a stream of JetStream: for `from`. */
  stream(name: string, options?: Omit<NatsReceiverOptions, "stream">): ReceiverDefinition;
  /** Publishes to a subject, which may hold placeholders: for `to`. */
  at(subject: string, options?: NatsSenderOptions & RateLimited): TargetDefinition;
  /** A sender that several targets share. */
  sender(options?: NatsSenderOptions & RateLimited): AddressedSender;
}

/** The transport `nats`, for definitions in code and for registries. */
export interface NatsAdapter extends TransportMaker {
  /** A session at a cluster. The URLs may hold a user and a password, or a token, all the same. */
  (options: NatsSessionOptions & WithSessionMode): NatsCluster;
  /** The plugin itself, for those who wrap it. */
  plugin(): TransportPlugin;
}

/**
 * Streams of NATS JetStream.
 *
 * @example
 * const cluster = nats({ servers: ["nats://127.0.0.1"] });
 * const routes = {
 *   orders: { from: cluster.stream("ORDERS", { consumer: "bridge", create: true }), to: cluster.at("audit.{$subject...}") },
 * };
 */
export const nats: NatsAdapter = Object.assign(
  (given: NatsSessionOptions & WithSessionMode): NatsCluster => {
    const { session_mode: mode, ...options } = givenOptions("nats", given, SUCH);
    const session: SessionDefinition = { kind: "session", transport: nats, mode, ...withoutUser(options) };
    const link = { transport: nats, session };
    return Object.assign(session, sendersOf<NatsSenderOptions>(link), {
      stream: (name: string, more?: Omit<NatsReceiverOptions, "stream">): ReceiverDefinition => ({
        kind: "receiver",
        ...link,
        options: { ...moreOptions("a stream of nats", more), stream: name },
      }),
    });
  },
  { type: "nats", plugin: () => natsTransport },
);

/** Where the options say who the bridge is, the URLs have to say nothing. In an address, a user without a password is a token. */
function withoutUser(options: NatsSessionOptions): Pick<SessionDefinition, "options" | "hidden"> {
  const { username, token, nkey_seed: seed, creds } = options;
  if ([username, token, seed, creds].some((given) => given !== undefined)) return { options: { ...options } };
  const { urls, ...user } = splitUrls(options.servers);
  const own = user.password === undefined && user.username !== undefined ? { token: user.username } : user;
  return { options: { ...options, servers: urls, ...own }, hidden: Object.keys(own) };
}
