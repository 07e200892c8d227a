import type { Socket } from "node:net";
import { BridgeError, deadline, orAborted } from "@bridge/ports";
import {
  type Channel,
  type ChannelModel,
  connect,
  type ConfirmChannel,
  type Options,
  type SocketOptions,
} from "amqplib";
import { type MessageWriter, publishDirectly } from "./direct-publish.ts";
import { writeTogether } from "./one-write.ts";
import { connectError, lossError } from "./reply-codes.ts";

/** How long a broker may take to close a connection that we have taken leave on. */
const CLOSE_TIMEOUT_MS = 2_000;

export interface WireOptions {
  readonly connection: Options.Connect;
  readonly socket: SocketOptions;
  /** The broker's address, as it may be shown. */
  readonly label: string;
}

export interface WireHandlers {
  /** The broker has stopped to read what we send, or goes on; `reason` is its word for it. */
  blocked(reason: string | undefined): void;
  /** The connection is gone, for this reason unless it was closed on purpose. Called once, before `closed` settles. */
  gone(cause: BridgeError | undefined): void;
}

/** What the library has of a connection beside what it describes. */
interface Internals extends MessageWriter {
  /** Whether it is closed, or about to be. */
  readonly expectSocketClose: boolean;
  readonly stream: Socket;
}

/** One network connection to the broker. */
export class Wire {
  readonly #label: string;
  readonly #model: ChannelModel;
  readonly #kill: AbortController;
  readonly #handlers: WireHandlers;
  readonly #closed = Promise.withResolvers<BridgeError | undefined>();
  #cause: BridgeError | undefined;
  #closing: Promise<void> | undefined;
  #onPurpose = false;
  #gone = false;

  private constructor(label: string, model: ChannelModel, kill: AbortController, handlers: WireHandlers) {
    this.#label = label;
    this.#model = model;
    this.#kill = kill;
    this.#handlers = handlers;
    model.on("error", (error) => (this.#cause ??= lossError(label, error)));
    model.on("close", (error) => this.#onClose(error));
    model.on("blocked", (reason) => handlers.blocked(reason));
    model.on("unblocked", () => handlers.blocked(undefined));
  }

  /** One attempt. When it fails or `signal` aborts, nothing is left open. */
  static async open(
    { connection, socket, label }: WireOptions,
    handlers: WireHandlers,
    signal: AbortSignal,
  ): Promise<Wire> {
    // The library knows no other way to end an attempt, nor to be rid of a connection at once.
    const kill = new AbortController();
    try {
      const attempt = connect(connection, { ...socket, noDelay: true, signal: kill.signal } as SocketOptions);
      return await orAborted(
        attempt.then((model) => {
          // What the broker sends together with its welcome is read before anybody can listen.
          if (internals(model).expectSocketClose) throw new Error("Unexpected close");
          writeTogether(internals(model).stream);
          publishDirectly(internals(model));
          return new Wire(label, model, kill, handlers);
        }),
        signal,
      );
    } catch (error) {
      kill.abort();
      if (signal.aborted) throw signal.reason;
      throw connectError(label, error as Error);
    }
  }

  /** The largest frame that the broker takes. */
  get frameMax(): number {
    return internals(this.#model).frameMax;
  }

  get gone(): boolean {
    return this.#gone;
  }

  /** Settles once: with the cause, or `undefined` when it was closed on purpose. Never rejects. */
  get closed(): Promise<BridgeError | undefined> {
    return this.#closed.promise;
  }

  /** A channel; `failed` is told when the broker closes it because of an error. */
  channel(failed: (error: Error & { readonly code?: number }) => void): Promise<Channel> {
    return this.#opened(this.#model.createChannel(), failed);
  }

  /** A channel on which the broker confirms what is published; `failed` as for {@link Wire.channel}. */
  confirmChannel(failed: (error: Error & { readonly code?: number }) => void): Promise<ConfirmChannel> {
    return this.#opened(this.#model.createConfirmChannel(), failed);
  }

  /** Drops the connection at once because of `cause`. */
  lose(cause: BridgeError): void {
    this.#cause ??= cause;
    this.#kill.abort();
  }

  /** Takes leave of the broker and closes, within a bound; `cause` is why, if not on purpose. */
  close(cause?: BridgeError): Promise<void> {
    if (this.#gone) return Promise.resolve();
    this.#closing ??= this.#close(cause);
    return this.#closing;
  }

  async #opened<C extends Channel>(opening: Promise<C>, failed: (error: Error) => void): Promise<C> {
    try {
      const channel = await opening;
      channel.on("error", failed);
      return channel;
    } catch (error) {
      throw this.#cause ?? lossError(this.#label, error as Error);
    }
  }

  async #close(cause: BridgeError | undefined): Promise<void> {
    this.#cause ??= cause;
    this.#onPurpose = this.#cause === undefined;
    using bound = deadline(CLOSE_TIMEOUT_MS, new BridgeError("TIMEOUT", "the broker did not close the connection"));
    try {
      await orAborted(this.#model.close(), bound.signal);
    } catch {
      // It is gone already, or does not answer.
    }
    this.#kill.abort();
    await this.closed;
  }

  #onClose(error: (Error & { readonly code?: unknown }) | undefined): void {
    if (this.#gone) return;
    this.#gone = true;
    // The library waits until all is written, which a frozen broker never reads; one that says good-bye gets its answer.
    if (typeof error?.code !== "number") internals(this.#model).stream.destroy();
    const cause = this.#onPurpose ? undefined : (this.#cause ?? lossError(this.#label, error));
    this.#handlers.gone(cause);
    this.#closed.resolve(cause);
  }
}

function internals(model: ChannelModel): Internals {
  return model.connection as unknown as Internals;
}
