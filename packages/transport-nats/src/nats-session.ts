import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { type ClientIdentity, orAborted, readClientTls, ServersInTurn } from "@bridge/ports/internal";
import { BridgeError, type Connection, type Session, type SessionContext } from "@bridge/ports";
import type { ConnectionOptions, TlsOptions } from "@nats-io/transport-node";
import { credentials } from "./credentials.ts";
import type { NatsReceiver } from "./nats-receiver.ts";
import type { SessionOptions } from "./options.ts";
import { parseServerUrl, type ServerUrl } from "./server-url.ts";
import { SourceConnection } from "./source-connection.ts";
import { TargetConnection } from "./target-connection.ts";
import { Wire, type WireHandlers, type WireOptions } from "./wire.ts";

/** Pings without an answer after which a server is lost. */
const MAX_PINGS_OUT = 2;

/** One half of a session of NATS: makes its connections, one at a time, and knows its receivers. */
export class NatsSession implements Session {
  readonly #options: SessionOptions;
  readonly #context: SessionContext;
  readonly #servers: ServersInTurn<ServerUrl>;
  readonly #receivers = new Set<NatsReceiver>();
  readonly #ephemeral = new Map<NatsReceiver, string>();
  readonly #unsettling = new Map<NatsReceiver, string>();
  readonly #disposed = new AbortController();
  #source: SourceConnection | undefined;
  #target: TargetConnection | undefined;

  constructor(options: SessionOptions, context: SessionContext) {
    this.#options = options;
    this.#context = context;
    this.#servers = new ServersInTurn("server", options.servers.map(parseServerUrl));
  }

  get subscriptions(): ReadonlySet<string> {
    return new Set(Array.from(this.#receivers, ({ id }) => id));
  }

  /** The connection that messages can be sent on right now. */
  get target(): TargetConnection | undefined {
    return this.#target;
  }

  addReceiver(receiver: NatsReceiver): void {
    if (this.#context.role !== "source")
      throw new Error(`the target half of session ${this.#context.id} has no receivers`);
    this.#receivers.add(receiver);
  }

  connect(signal: AbortSignal): Promise<Connection> {
    const bounds = { signal, disposed: this.#disposed.signal, timeoutMs: this.#options.connect_timeout };
    return this.#servers.connect(bounds, (server, attempt) => this.#connectTo(server, attempt));
  }

  counters(): Readonly<Record<string, number>> {
    if (this.#context.role === "source") return this.#source?.counters() ?? {};
    const publisher = this.#target?.publisher;
    return { unanswered: publisher?.unanswered ?? 0, duplicates: publisher?.duplicates ?? 0 };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed.abort(new BridgeError("CONNECTION_LOST", `session ${this.#context.id} is disposed`));
    await this.#source?.[Symbol.asyncDispose]();
    await this.#target?.[Symbol.asyncDispose]();
  }

  async #connectTo(server: ServerUrl, attempt: AbortSignal): Promise<Connection> {
    attempt.throwIfAborted();
    const options = await this.#wireOptions(server);
    return this.#context.role === "source" ? this.#openSource(options, attempt) : this.#openTarget(options, attempt);
  }

  async #openSource(options: WireOptions, attempt: AbortSignal): Promise<Connection> {
    const handlers: WireHandlers = {
      denied: (violation) => source.denied(violation),
      gone: (cause) => {
        source.lost(cause ?? closed());
        if (this.#source === source) this.#source = undefined;
      },
    };
    const wire = await Wire.open(options, handlers, attempt);
    const { connect_timeout: timeoutMs, ping_interval: heartbeatMs, inbox_prefix: inboxPrefix } = this.#options;
    const { clock, logger } = this.#context;
    const source = new SourceConnection(wire, {
      receivers: this.#receivers,
      ephemeral: this.#ephemeral,
      unsettling: this.#unsettling,
      timeoutMs,
      heartbeatMs,
      inboxPrefix,
      clock,
      logger,
    });
    this.#source = source;
    return source;
  }

  async #openTarget(options: WireOptions, attempt: AbortSignal): Promise<Connection> {
    const handlers: WireHandlers = {
      denied: (violation) => target.denied(violation),
      gone: (cause) => {
        target.lost(cause ?? closed());
        if (this.#target === target) this.#target = undefined;
      },
    };
    const wire = await Wire.open(options, handlers, attempt);
    const { connect_timeout: timeoutMs, inbox_prefix: inboxPrefix } = this.#options;
    const target = new TargetConnection(wire, { timeoutMs, inboxPrefix });
    this.#target = target;
    try {
      // The server has then said whether the bridge may listen for its answers.
      await orAborted(wire.flush(), attempt);
      await new Promise((resolve) => setImmediate(resolve));
      if (target.refusal !== undefined) throw target.refusal;
      return target;
    } catch (error) {
      await target[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #wireOptions({ server, host, tls, label }: ServerUrl): Promise<WireOptions> {
    const { connect_timeout: timeout, ping_interval: pingInterval, inbox_prefix: inboxPrefix } = this.#options;
    const connection: ConnectionOptions = {
      servers: server,
      // Operators find it by this name in the server's list of connections.
      name: connectionName(this.#context),
      timeout,
      pingInterval,
      maxPingOut: MAX_PINGS_OUT,
      inboxPrefix,
      noAsyncTraces: true,
      ...credentials(this.#options),
      ...(tls && { tls: tlsOptions(host, await readClientTls(this.#options.tls)) }),
    };
    return { connection, label, maxMessageBytes: this.#options.max_message_bytes };
  }
}

/** Of a connection to `host`. All of it goes to the platform as it is, whatever the library's types say. */
function tlsOptions(host: string, identity: ClientIdentity): TlsOptions {
  // The library puts TLS on an open socket and names nobody when it was opened to an IP address: the platform would then
  // expect a certificate for localhost.
  const check = (_named: string, certificate: PeerCertificate): Error | undefined =>
    checkServerIdentity(host, certificate);
  return { ...identity, checkServerIdentity: check } as unknown as TlsOptions;
}

function closed(): BridgeError {
  return new BridgeError("CONNECTION_LOST", "the connection was closed");
}

function connectionName({ bridgeId, replica, id, role }: SessionContext): string {
  const ids = [bridgeId, id, ...(replica === undefined ? [] : [replica])];
  return `bridge-${ids.join(":")}${role === "target" ? "-target" : ""}`;
}
