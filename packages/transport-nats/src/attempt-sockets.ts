import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";

const attempts = new AsyncLocalStorage<AttemptSockets>();
const CHANNEL = "net.client.socket";

/**
 * The sockets that the client library opens while it tries to connect.
 *
 * It can neither be told to give an attempt up nor to drop a connection whose other end has fallen silent: it waits for
 * the socket, for ever. So whoever made the attempt has its sockets too, and ends it by destroying them.
 */
export class AttemptSockets {
  readonly #sockets = new Set<Socket>();
  readonly #onSocket: (socket: Socket) => void;
  #destroyed = false;

  /** `onSocket` is told of each, before anything is read. */
  constructor(onSocket: (socket: Socket) => void) {
    this.#onSocket = onSocket;
  }

  /** The result of `connect`, whose sockets are kept here. */
  async run<Result>(connect: () => Promise<Result>): Promise<Result> {
    const note = (message: unknown): void => {
      if (attempts.getStore() === this) this.#add((message as { readonly socket: Socket }).socket);
    };
    subscribe(CHANNEL, note);
    try {
      return await attempts.run(this, connect);
    } finally {
      unsubscribe(CHANNEL, note);
    }
  }

  /** Ends the attempt, or the connection that came of it. */
  destroy(): void {
    this.#destroyed = true;
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  #add(socket: Socket): void {
    if (this.#destroyed) socket.destroy();
    else {
      this.#sockets.add(socket);
      this.#onSocket(socket);
    }
  }
}
