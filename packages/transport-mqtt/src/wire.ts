import { Socket } from "node:net";
import type { Writable } from "node:stream";
import { networkError, watchReading, deadline, orAborted } from "@bridge/ports/internal";
import { BridgeError, type Clock, systemClock } from "@bridge/ports";
import { connect, type IClientOptions, type IConnackPacket, type IPublishPacket, type MqttClient } from "mqtt";
import type { IPubackPacket, Packet } from "mqtt-packet";
import { Heartbeat } from "./heartbeat.ts";
import { PacketLengths } from "./packet-lengths.ts";
import { reasonError } from "./reason-codes.ts";

/** How long a broker may take to close a connection that we have taken leave on. */
const CLOSE_TIMEOUT_MS = 2_000;

/** The packet that takes leave, in both versions of the protocol. The library's own way waits for what is unanswered. */
const DISCONNECT = Buffer.of(0xe0, 0x00);

/** Tells the client not to acknowledge: whoever holds the message does, and when. */
const HELD = new Error("held");

export interface SubscribeOptions {
  readonly qos: 0 | 1;
  readonly identifier: number | undefined;
  /** Whether a message that is published now says that it was to be retained (MQTT 5). */
  readonly retainAsPublished: boolean;
}

export interface WireOptions {
  readonly client: IClientOptions;
  /** The broker's address, as it may be shown. */
  readonly label: string;
  /** The largest packet that may be announced. */
  readonly maxMessageBytes: number;
}

export interface WireHandlers {
  /** A message. `false` holds the reading of everything behind it until {@link Wire.resume}. */
  published(packet: IPublishPacket): boolean;
  /** The broker's answer to a PUBLISH that was written to {@link Wire.stream}. */
  acknowledged(packet: IPubackPacket): void;
  /** The connection is gone, for this reason unless it was closed on purpose. Called once, before `closed` settles. */
  gone(cause: BridgeError | undefined): void;
}

/**
 * One network connection to one broker. The client library connects, parses and subscribes; messages and their
 * acknowledgements are written to the stream by those who know when, until {@link Wire.close} is called.
 */
export class Wire {
  readonly #client: MqttClient;
  readonly #label: string;
  readonly #clock: Clock;
  readonly #handlers: WireHandlers;
  readonly #opened = Promise.withResolvers<IConnackPacket>();
  readonly #closed = Promise.withResolvers<BridgeError | undefined>();
  #heartbeat: Heartbeat | undefined;
  #held: (() => void) | undefined;
  #holding = Promise.withResolvers<void>();
  #cause: BridgeError | undefined;
  #closing = false;
  #gone = false;

  /** Begins to connect. Throws when the options are of no use, such as a key that is none. */
  constructor({ client: options, label, maxMessageBytes }: WireOptions, clock: Clock, handlers: WireHandlers) {
    this.#label = label;
    this.#clock = clock;
    this.#handlers = handlers;
    this.#opened.promise.catch(() => {});
    const client = connect(options);
    this.#client = client;
    // Before anything can be read: what a session has kept follows the CONNACK at once.
    client.handleMessage = (packet, done) => this.#guard(() => this.#onMessage(packet, done));
    client.on("packetreceive", (packet) => this.#guard(() => this.#onPacket(packet)));
    client.on("connect", (connack) => this.#onConnect(connack));
    client.on("error", (error) => this.lose(this.#errorOf(error)));
    client.on("close", () => this.#onClose());
    const lengths = new PacketLengths(label, maxMessageBytes);
    watchReading(
      client.stream,
      (bytes) => lengths.look(bytes),
      (thrown) => this.#unreadable(thrown),
    );
    // Both sides would otherwise wait for each other before they send what is small, and most packets are.
    if (client.stream instanceof Socket) client.stream.setNoDelay(true);
    client.stream.on("error", (error: Error) => (this.#cause ??= networkError(label, error)));
  }

  get stream(): Writable {
    return this.#client.stream;
  }

  get gone(): boolean {
    return this.#gone;
  }

  /** Settles once: with the cause, or `undefined` when it was closed on purpose. Never rejects. */
  get closed(): Promise<BridgeError | undefined> {
    return this.#closed.promise;
  }

  /** Resolves when the broker has accepted the connection. When it has not, or `signal` aborts, nothing is left open. */
  async opened(signal: AbortSignal): Promise<IConnackPacket> {
    try {
      return await orAborted(this.#opened.promise, signal);
    } catch (error) {
      this.lose(BridgeError.from(error));
      throw error;
    }
  }

  /** Resolves while reading is held, or when it next is: until it goes on, no answer of the broker can be seen. */
  get holding(): Promise<void> {
    return this.#holding.promise;
  }

  /** Goes on reading after a handler has held it. */
  resume(): void {
    const held = this.#held;
    if (held === undefined) return;
    this.#held = undefined;
    this.#holding = Promise.withResolvers();
    this.#heartbeat?.excuse(false);
    held();
  }

  /**
   * Asks for subscriptions in one packet; resolves with the broker's code for each of them.
   *
   * A retained message comes when its subscription is new, and not again with every connection (MQTT 5).
   */
  subscribe(
    filters: readonly string[],
    { qos, identifier, retainAsPublished }: SubscribeOptions,
  ): Promise<readonly number[]> {
    const properties = identifier === undefined ? {} : { properties: { subscriptionIdentifier: identifier } };
    return new Promise((resolve, reject) => {
      this.#client.subscribe(
        [...filters],
        { qos, rh: 1, rap: retainAsPublished, ...properties },
        (error, _granted, packet) => {
          if (packet !== undefined) resolve(packet.granted as number[]);
          else reject(this.#cause ?? this.#errorOf(error ?? new Error("the broker did not answer a subscription")));
        },
      );
    });
  }

  /** Gives up subscriptions, also such as the broker has from before; resolves when it has answered. */
  unsubscribe(filters: readonly string[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#client.unsubscribe([...filters], (error) => {
        if (error) reject(this.#cause ?? this.#errorOf(error));
        else resolve();
      });
    });
  }

  /** Drops the connection because of `cause`. */
  lose(cause: BridgeError): void {
    this.#cause ??= cause;
    this.#client.stream.destroy();
  }

  /** Takes leave of the broker and closes, within a bound. */
  async close(): Promise<void> {
    if (!this.#gone && !this.#closing) {
      this.#closing = true;
      this.#heartbeat?.[Symbol.dispose]();
      if (this.#client.connected) this.stream.end(DISCONNECT);
      else this.#client.stream.destroy();
      this.resume();
      using bound = deadline(
        systemClock,
        CLOSE_TIMEOUT_MS,
        new BridgeError("TIMEOUT", "the broker did not close the connection"),
      );
      await orAborted(this.closed, bound.signal).catch(() => this.#client.stream.destroy());
    }
    await this.closed;
  }

  /** The library calls us in turns of its own, in which an exception would be the end of the process. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#unreadable(error);
    }
  }

  /** Something came that nobody can read. It is not repeated, as it may be a message. */
  #unreadable(thrown: unknown): void {
    const cause = BridgeError.is(thrown)
      ? thrown
      : new BridgeError("CONNECTION_LOST", `${this.#label}: the broker has sent what is not its protocol`, {
          cause: thrown,
        });
    this.lose(cause);
  }

  #onMessage(packet: IPublishPacket, done: (error?: Error) => void): void {
    // Without the error the client would acknowledge a message of QoS 1 by itself, before anybody has accepted it.
    const verdict = packet.qos === 1 ? HELD : undefined;
    if (this.#handlers.published(packet) || this.#closing) {
      done(verdict);
      return;
    }
    this.#held = () => done(verdict);
    this.#holding.resolve();
    this.#heartbeat?.excuse(true);
  }

  #onPacket(packet: Packet): void {
    this.#heartbeat?.heard();
    if (packet.cmd === "puback") this.#handlers.acknowledged(packet);
    else if (packet.cmd === "connack") this.#onConnack(packet);
    else if (packet.cmd === "disconnect") {
      const what = `${this.#label}: the broker ended the connection`;
      const { reasonCode = 0, properties } = packet;
      this.#cause ??=
        reasonCode === 0
          ? new BridgeError("CONNECTION_LOST", what)
          : reasonError(what, reasonCode, properties?.reasonString);
    }
  }

  #onConnack({ reasonCode, returnCode, properties }: IConnackPacket): void {
    const code = reasonCode ?? returnCode ?? 0;
    if (code !== 0) {
      this.lose(reasonError(`${this.#label}: the broker refused the connection`, code, properties?.reasonString));
    }
  }

  #onConnect(connack: IConnackPacket): void {
    const { keepalive } = this.#client;
    if (keepalive > 0 && !this.#gone) {
      this.#heartbeat = new Heartbeat(this.#clock, keepalive * 1_000, {
        ping: () => this.#client.sendPing(),
        silent: () =>
          this.lose(new BridgeError("CONNECTION_LOST", `${this.#label}: the broker has been silent for too long`)),
      });
      if (this.#held !== undefined) this.#heartbeat.excuse(true);
    }
    this.#opened.resolve(connack);
  }

  #onClose(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#held = undefined;
    this.#heartbeat?.[Symbol.dispose]();
    const lost =
      this.#cause ?? new BridgeError("CONNECTION_LOST", `${this.#label}: the connection was closed by the broker`);
    const cause = this.#closing ? undefined : lost;
    this.#opened.reject(lost);
    this.#handlers.gone(cause);
    this.#closed.resolve(cause);
  }

  #errorOf(error: Error): BridgeError {
    if (error.message === "connack timeout")
      return new BridgeError("TIMEOUT", `${this.#label}: the broker did not answer`);
    return networkError(this.#label, error);
  }
}
