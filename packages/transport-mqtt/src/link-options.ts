import { readClientTls } from "@bridge/ports/internal";
import type { SessionContext } from "@bridge/ports";
import type { IClientOptions } from "mqtt";
import { type BrokerUrl, parseBrokerUrl } from "./broker-url.ts";
import type { SessionOptions } from "./options.ts";

/** A connection for sending takes part in no session: it has a name of its own, and the broker keeps nothing for it. */
const TARGET_SUFFIX = "-target";
const MAX_RECEIVE_MAXIMUM = 65_535;

/** What a link has of its session's context. */
export type LinkContext = Pick<SessionContext, "bridgeId" | "replica" | "id" | "role" | "sessionMode" | "maxInFlight">;

/** The library's timers are not used: {@link Heartbeat} does their work. */
const NO_TIMER = { set: () => 0, clear: () => {} };

/**
 * The same over restarts, so that a session that the broker keeps is found again. By default with the bridge's id in it,
 * and in a cluster the instance's, as a broker closes the elder of two connections of one name; no id holds a colon, so
 * that no two defaults are equal.
 */
export function clientIdOf(
  options: SessionOptions,
  { bridgeId, replica, id, role }: Pick<LinkContext, "bridgeId" | "replica" | "id" | "role">,
): string {
  const ids = [bridgeId, id, ...(replica === undefined ? [] : [replica])];
  const clientId = options.client_id ?? `bridge-${ids.join(":")}`;
  return role === "target" ? clientId + TARGET_SUFFIX : clientId;
}

/** The name that a link has at each of its brokers. */
export function identitiesOf(
  options: SessionOptions,
  context: Pick<SessionContext, "bridgeId" | "id" | "role">,
): readonly string[] {
  const clientId = clientIdOf(options, { ...context, replica: undefined });
  return options.broker_urls.map((url) => {
    const { host, port } = parseBrokerUrl(url);
    return JSON.stringify([ON_THIS_MACHINE.test(host) ? "loopback" : host, port, clientId]);
  });
}

const ON_THIS_MACHINE = /^(?:localhost|127\..*|::1)$/i;

/** Whether the broker is to keep what it could not hand over. */
export function keepsSession({ role, sessionMode }: LinkContext): boolean {
  return role === "source" && sessionMode !== "ephemeral";
}

/**
 * What the client library is told for one connection. Reconnecting, repeating and queueing are off: the engine connects
 * again, subscribes again and sends again.
 *
 * @throws BridgeError when a file that `tls` names cannot be read
 */
export async function clientOptions(
  options: SessionOptions,
  context: LinkContext,
  broker: BrokerUrl,
): Promise<IClientOptions> {
  const keeps = keepsSession(context);
  return {
    protocol: broker.tls ? "mqtts" : "mqtt",
    host: broker.host,
    port: broker.port,
    protocolId: "MQTT",
    protocolVersion: options.protocol_version,
    clientId: clientIdOf(options, context),
    clean: !keeps,
    keepalive: Math.ceil(options.keep_alive / 1_000),
    connectTimeout: options.connect_timeout,
    reconnectPeriod: 0,
    resubscribe: false,
    queueQoSZero: false,
    // A cache of all packet identifiers costs 10 MB, and little of what we write goes through it.
    writeCache: false,
    timerVariant: NO_TIMER,
    // The library would write packets, and with them payloads and passwords, into its debug log.
    log: () => {},
    ...(options.username !== undefined && { username: options.username }),
    ...(options.password !== undefined && { password: options.password }),
    ...(options.will !== undefined && { will: options.will }),
    ...(options.protocol_version === 5 && { properties: connectProperties(options, context, keeps) }),
    ...(broker.tls && (await readClientTls(options.tls))),
  };
}

function connectProperties(
  options: SessionOptions,
  { role, maxInFlight }: LinkContext,
  keeps: boolean,
): NonNullable<IClientOptions["properties"]> {
  const window = Math.min(Math.max(options.receive_maximum ?? maxInFlight, 1), MAX_RECEIVE_MAXIMUM);
  return {
    maximumPacketSize: options.max_message_bytes,
    ...(keeps && { sessionExpiryInterval: Math.ceil(options.session_expiry / 1_000) }),
    ...(role === "source" && { receiveMaximum: window }),
  };
}
