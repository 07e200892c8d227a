import { connect, isIP, type Socket } from "node:net";
import { nextTick } from "node:process";
import { connect as connectTls } from "node:tls";
import { type ClientIdentity, strangerError, deadline, orAborted } from "@bridge/ports/internal";
import { BridgeError, systemClock } from "@bridge/ports";
import { Malformed } from "./codec/byte-reader.ts";
import { FRAME, FrameReader } from "./codec/frame-reader.ts";
import { Method, SAID } from "./codec/methods.ts";
import { SAY } from "./codec/say.ts";
import { Channel, type ChannelHandlers, type ChannelLine } from "./connection/channel.ts";
import { type Agreement, Handshake, type Introduction, OWN_LIMITS } from "./connection/handshake.ts";
import { Heartbeat } from "./connection/heartbeat.ts";
import { Refusal } from "./connection/refusal.ts";
import { connectError, lossError } from "./reply-codes.ts";

/** How long a broker may take to close a connection that we have taken leave on. */
const CLOSE_TIMEOUT_MS = 2_000;

export interface WireOptions extends Introduction {
  readonly host: string;
  readonly port: number;
  /** With TLS, and with what. */
  readonly tls: ClientIdentity | undefined;
  /** The broker's address, as it may be shown. */
  readonly label: string;
  /** The largest payload that is kept. */
  readonly maxMessageBytes: number;
}

export interface WireHandlers {
  /** The broker has stopped to read what we send, or goes on; `reason` is its word for it. */
  blocked(reason: string | undefined): void;
  /** The connection is gone, for this reason unless it was closed on purpose. Called once, before `closed` settles. */
  gone(cause: BridgeError | undefined): void;
}

/** One network connection to the broker. */
export class Wire implements ChannelLine {
  readonly maxMessageBytes: number;
  readonly #label: string;
  readonly #socket: Socket;
  readonly #frames = new FrameReader(OWN_LIMITS.frameMax, (...frame) => this.#onFrame(...frame));
  readonly #channels = new Map<number, Channel>();
  readonly #opened = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<BridgeError | undefined>();
  /** Until the connection is open. */
  #handshake: Handshake | undefined;
  #handlers: WireHandlers | undefined;
  /** Why the broker reads nothing of what is sent, in its words. */
  #blocked: string | undefined;
  #agreement: Agreement = OWN_LIMITS;
  #heartbeat: Heartbeat | undefined;
  #isCorked = false;
  #hasRead = false;
  #cause: BridgeError | undefined;
  #closing: Promise<void> | undefined;
  #onPurpose = false;
  #gone = false;

  private constructor(socket: Socket, options: WireOptions) {
    this.#socket = socket;
    this.#label = options.label;
    this.#handshake = new Handshake(options);
    this.maxMessageBytes = options.maxMessageBytes;
    this.#opened.promise.catch(() => {});
    socket.setNoDelay(true);
    socket.once(options.tls === undefined ? "connect" : "secureConnect", () => this.write(SAY.greeting));
    socket.on("data", (chunk) => this.#read(chunk));
    socket.on("error", (error) => this.#end(error));
    socket.on("end", () => this.#end(undefined));
    socket.on("close", () => this.#end(undefined));
  }

  /** One attempt. When it fails or `signal` aborts, nothing is left open. */
  static async open(options: WireOptions, signal: AbortSignal): Promise<Wire> {
    const { host, port, tls } = options;
    const servername = isIP(host) === 0 ? { servername: host } : {};
    const socket = tls === undefined ? connect({ host, port }) : connectTls({ host, port, ...servername, ...tls });
    const wire = new Wire(socket, options);
    try {
      await orAborted(wire.#opened.promise, signal);
      return wire;
    } catch (error) {
      wire.#end(error as Error);
      throw error;
    }
  }

  /** From now on tells `handlers`, at once what they have missed. */
  attach(handlers: WireHandlers): void {
    this.#handlers = handlers;
    if (this.#blocked !== undefined) handlers.blocked(this.#blocked);
    if (this.#gone) handlers.gone(this.#cause);
  }

  /** The largest frame that the broker takes. */
  get frameMax(): number {
    return this.#agreement.frameMax;
  }

  get gone(): boolean {
    return this.#gone;
  }

  /** Settles once: with the cause, or `undefined` when it was closed on purpose. Never rejects. */
  get closed(): Promise<BridgeError | undefined> {
    return this.#closed.promise;
  }

  /** @throws BridgeError when the connection is lost before it is open; a {@link Refusal} of the broker's otherwise */
  async channel(handlers: ChannelHandlers): Promise<Channel> {
    if (this.#gone || this.#closing !== undefined) throw this.#cause ?? lossError(this.#label, undefined);
    let number = 1;
    while (this.#channels.has(number)) number++;
    const { channelMax } = this.#agreement;
    if (number > channelMax)
      throw new BridgeError("UNAVAILABLE", `${this.#label}: the broker allows ${channelMax} channels on a connection`);
    const channel = new Channel(number, this, handlers);
    this.#channels.set(number, channel);
    await channel.open();
    return channel;
  }

  /** A channel on which the broker confirms what is published; otherwise as {@link Wire.channel}. */
  async confirmChannel(handlers: ChannelHandlers): Promise<Channel> {
    const channel = await this.channel(handlers);
    await channel.selectConfirms();
    channel.check();
    return channel;
  }

  /** What is written at a stretch leaves in one call to the system, which costs more than all else about a frame. */
  write(bytes: Buffer): void {
    this.#write(bytes, nextTick);
  }

  /** Messages of many sources, such as connections, come up one after another in a turn of the event loop. */
  writeMessage(bytes: Buffer): void {
    this.#write(bytes, setImmediate);
  }

  released(channel: Channel): void {
    this.#channels.delete(channel.number);
  }

  /** Drops the connection at once because of `cause`. */
  lose(cause: BridgeError): void {
    this.#cause ??= cause;
    this.#end(undefined);
  }

  /** Takes leave of the broker and closes, within a bound; `cause` is why, if not on purpose. */
  close(cause?: BridgeError): Promise<void> {
    if (this.#gone) return Promise.resolve();
    this.#closing ??= this.#close(cause);
    return this.#closing;
  }

  async #close(cause: BridgeError | undefined): Promise<void> {
    this.#cause ??= cause;
    this.#onPurpose = this.#cause === undefined;
    using bound = deadline(
      systemClock,
      CLOSE_TIMEOUT_MS,
      new BridgeError("TIMEOUT", "the broker did not close the connection"),
    );
    // A broker that has stopped to read does not answer.
    if (this.#blocked === undefined) {
      this.write(SAY.close());
      await orAborted(this.closed, bound.signal).catch(() => {});
    }
    this.#end(undefined);
  }

  #write(bytes: Buffer, whenOver: (uncork: () => void) => void): void {
    if (this.#gone) return;
    if (this.#heartbeat !== undefined) this.#heartbeat.hasSent = true;
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#socket.cork();
      whenOver(this.#uncork);
    }
    this.#socket.write(bytes);
  }

  readonly #uncork = (): void => {
    this.#isCorked = false;
    this.#socket.uncork();
  };

  #read(chunk: Buffer): void {
    if (this.#gone) return;
    if (this.#heartbeat !== undefined) this.#heartbeat.hasReceived = true;
    if (!this.#hasRead && isStranger(chunk)) this.lose(strangerError(this.#label, "AMQP", chunk));
    this.#hasRead = true;
    try {
      this.#frames.read(chunk);
    } catch (error) {
      this.#end(error as Error);
    }
  }

  #onFrame(type: number, number: number, payload: Buffer): void {
    // What came behind the end in the same read.
    if (this.#gone) return;
    if (number === 0) this.#onControl(type, payload);
    else {
      const channel = this.#channels.get(number);
      if (channel === undefined) throw new Malformed(`a frame of channel ${number}, which is not open`);
      channel.frame(type, payload);
    }
  }

  #onControl(type: number, payload: Buffer): void {
    if (type === FRAME.heartbeat) return;
    if (type !== FRAME.method) throw new Malformed("a part of a message that belongs to no channel");
    const method = new Method(payload);
    if (this.#handshake !== undefined) this.#introduce(method, this.#handshake);
    else if (method.id === SAID.close) this.#closedByBroker(Refusal.of(method));
    else if (method.id === SAID.closeOk && this.#closing !== undefined) this.#end(undefined);
    else if (method.id === SAID.blocked) this.#onBlocked(method.text(0));
    else if (method.id === SAID.unblocked) this.#onBlocked(undefined);
    else throw new Malformed(`${method.toString()}, which nobody has asked for`);
  }

  #introduce(method: Method, handshake: Handshake): void {
    const next = handshake.next(method);
    if ("frameMax" in next) {
      this.#handshake = undefined;
      this.#agreement = next;
      this.#frames.maxSize = next.frameMax;
      const silence = new BridgeError("CONNECTION_LOST", `${this.#label}: the broker has been silent for too long`);
      const silent = (): void => this.lose(silence);
      if (next.heartbeat > 0) this.#heartbeat = new Heartbeat(next.heartbeat, () => this.write(SAY.heartbeat), silent);
      this.#opened.resolve();
    } else for (const bytes of next) this.write(bytes);
  }

  #onBlocked(reason: string | undefined): void {
    this.#blocked = reason;
    this.#handlers?.blocked(reason);
  }

  #closedByBroker(refusal: Refusal): void {
    this.write(SAY.closeOk());
    this.#end(refusal);
  }

  /** The only end: of the attempt, or of the connection. */
  #end(error: Error | undefined): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#heartbeat?.[Symbol.dispose]();
    const toError = this.#handshake === undefined ? lossError : connectError;
    this.#cause = this.#onPurpose ? undefined : (this.#cause ?? toError(this.#label, error));
    const cause = this.#cause ?? new BridgeError("CONNECTION_LOST", "the connection was closed");
    // One that says good-bye gets its answer; nobody else is waited for, as a frozen broker never reads.
    if (error instanceof Refusal) this.#endSocket();
    else this.#socket.destroy();
    for (const channel of this.#channels.values()) channel.lose(cause);
    this.#channels.clear();
    this.#opened.reject(cause);
    this.#handlers?.gone(this.#cause);
    this.#closed.resolve(this.#cause);
  }

  #endSocket(): void {
    const late = setTimeout(() => this.#socket.destroy(), CLOSE_TIMEOUT_MS);
    this.#socket.once("close", () => clearTimeout(late));
    this.#socket.end();
  }
}

/** Whether this is no broker's first word, nor that of one that speaks another version only. */
function isStranger(said: Buffer): boolean {
  return said[0] !== FRAME.method && said[0] !== SAY.greeting[0];
}
