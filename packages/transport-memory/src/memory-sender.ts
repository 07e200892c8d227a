import { BridgeError, type Envelope, type Sender } from "@bridge/ports";
import type { MemoryChannel } from "./memory-channel.ts";
import type { MemoryHub } from "./memory-hub.ts";
import type { MemorySession } from "./memory-session.ts";
import { outgoing } from "./outgoing.ts";

export interface MemorySenderDeps {
  readonly hub: MemoryHub;
  readonly session: MemorySession | undefined;
  /** Where messages go whose binding has no address; empty: nowhere. */
  readonly channel: string;
  /** Default: the hub's. */
  readonly maxMessages: number | undefined;
  /** Count the messages, keep none. */
  readonly discard: boolean;
}

const SENT: Promise<void> = Promise.resolve();

/** Puts messages into channels. */
export class MemorySender implements Sender {
  readonly #deps: MemorySenderDeps;
  readonly #disposed = new AbortController();
  #last: MemoryChannel | undefined;

  constructor(deps: MemorySenderDeps) {
    this.#deps = deps;
  }

  /** Not an async function: the sends that succeed at once share one resolved promise. */
  send(envelope: Envelope, address: string, signal: AbortSignal): Promise<void> {
    try {
      signal.throwIfAborted();
      this.#disposed.signal.throwIfAborted();
      const connection = this.#connection();
      const channel = this.#channel(address);
      if (channel.sends.active) {
        const signals = [signal, this.#disposed.signal, ...(connection === undefined ? [] : [connection])];
        return channel.sends.pass(...signals).then(() => this.#put(channel, envelope));
      }
      this.#put(channel, envelope);
      return SENT;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed.abort(new BridgeError("CONNECTION_LOST", "the sender is disposed"));
  }

  /** The signal of the session's connection; `undefined` without a session. */
  #connection(): AbortSignal | undefined {
    if (this.#deps.session === undefined) return undefined;
    const connection = this.#deps.session.connected;
    if (connection === undefined) {
      throw new BridgeError("CONNECTION_LOST", "the session is not connected", { charged: false });
    }
    return connection;
  }

  #channel(address: string): MemoryChannel {
    const name = address === "" ? this.#deps.channel : address;
    if (this.#last?.name === name) return this.#last;
    if (name === "") {
      throw new BridgeError("BINDING_UNRESOLVED", "no channel: set the binding's address or the sender's channel");
    }
    this.#last = this.#deps.hub.channel(name);
    return this.#last;
  }

  #put(channel: MemoryChannel, envelope: Envelope): void {
    if (this.#deps.discard) channel.countOnly();
    else channel.put(outgoing(envelope), this.#deps.maxMessages);
  }
}
