import { readClientTls, deadline } from "@bridge/ports/internal";
import { BridgeError, type Connection, type Session, type SessionContext, systemClock } from "@bridge/ports";
import type { AmqpReceiver } from "./amqp-receiver.ts";
import { type BrokerUrl, parseBrokerUrl } from "./broker-url.ts";
import type { SessionOptions } from "./options.ts";
import { SourceConnection } from "./source-connection.ts";
import { TargetConnection } from "./target-connection.ts";
import { Wire, type WireOptions } from "./wire.ts";

/** What the broker's default user is called, and its password. */
const GUEST = "guest";
const DEFAULT_VHOST = "/";

/** One half of a session of AMQP: makes its connections, one at a time, and knows its receivers. */
export class AmqpSession implements Session {
  readonly #options: SessionOptions;
  readonly #context: SessionContext;
  readonly #broker: BrokerUrl;
  readonly #receivers = new Set<AmqpReceiver>();
  readonly #disposed = new AbortController();
  #source: SourceConnection | undefined;
  #target: TargetConnection | undefined;

  constructor(options: SessionOptions, context: SessionContext) {
    this.#options = options;
    this.#context = context;
    this.#broker = parseBrokerUrl(options.url);
  }

  get subscriptions(): ReadonlySet<string> {
    return new Set(Array.from(this.#receivers, ({ id }) => id));
  }

  /** The connection that messages can be sent on right now. */
  get target(): TargetConnection | undefined {
    return this.#target;
  }

  addReceiver(receiver: AmqpReceiver): void {
    if (this.#context.role !== "source")
      throw new Error(`the target half of session ${this.#context.id} has no receivers`);
    this.#receivers.add(receiver);
  }

  async connect(signal: AbortSignal): Promise<Connection> {
    const { connect_timeout: timeoutMs } = this.#options;
    const late = `${this.#broker.label}: the broker has not answered within ${timeoutMs} ms`;
    using bound = deadline(systemClock, timeoutMs, new BridgeError("TIMEOUT", late));
    const attempt = AbortSignal.any([signal, bound.signal, this.#disposed.signal]);
    attempt.throwIfAborted();
    const options = await this.#wireOptions();
    if (this.#context.role === "source") return await this.#openSource(options, attempt);
    return await this.#openTarget(options, attempt);
  }

  counters(): Readonly<Record<string, number>> {
    if (this.#context.role === "source") return { unacknowledged: this.#source?.unacknowledged ?? 0 };
    const target = this.#target;
    return {
      waiting: target?.waiting ?? 0,
      unconfirmed: target?.unconfirmed ?? 0,
      blocked: target?.blocked === true ? 1 : 0,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed.abort(new BridgeError("CONNECTION_LOST", `session ${this.#context.id} is disposed`));
    await this.#source?.[Symbol.asyncDispose]();
    await this.#target?.[Symbol.asyncDispose]();
  }

  async #openSource(options: WireOptions, attempt: AbortSignal): Promise<Connection> {
    const wire = await Wire.open(options, attempt);
    const source = new SourceConnection(wire, {
      receivers: this.#receivers,
      timeoutMs: this.#options.connect_timeout,
      logger: this.#context.logger,
    });
    this.#source = source;
    wire.attach({
      blocked: () => {},
      gone: (cause) => {
        source.lost(cause ?? closed());
        if (this.#source === source) this.#source = undefined;
      },
    });
    return source;
  }

  async #openTarget(options: WireOptions, attempt: AbortSignal): Promise<Connection> {
    const wire = await Wire.open(options, attempt);
    const target = new TargetConnection(wire, this.#context.clock);
    this.#target = target;
    wire.attach({
      blocked: (reason) => {
        this.#noteBlocked(reason);
        target.block(reason);
      },
      gone: (cause) => {
        target.lost(cause ?? closed());
        if (this.#target === target) this.#target = undefined;
      },
    });
    return target;
  }

  async #wireOptions(): Promise<WireOptions> {
    const { username, password = GUEST, heartbeat, max_message_bytes, tls } = this.#options;
    const { tls: secure, host, port, vhost, label } = this.#broker;
    return {
      host,
      port,
      tls: secure ? await readClientTls(tls) : undefined,
      label,
      username,
      password,
      vhost: vhost === "" ? DEFAULT_VHOST : decodeURIComponent(vhost),
      heartbeat: Math.ceil(heartbeat / 1_000),
      name: connectionName(this.#context),
      maxMessageBytes: max_message_bytes,
    };
  }

  #noteBlocked(reason: string | undefined): void {
    if (reason === undefined) this.#context.logger.info("the broker takes messages again");
    else this.#context.logger.warn("the broker takes no messages", { reason });
  }
}

function closed(): BridgeError {
  return new BridgeError("CONNECTION_LOST", "the connection was closed");
}

function connectionName({ bridgeId, replica, id, role }: SessionContext): string {
  const ids = [bridgeId, id, ...(replica === undefined ? [] : [replica])];
  return `bridge-${ids.join(":")}${role === "target" ? "-target" : ""}`;
}
