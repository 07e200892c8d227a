import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** Sees the bytes of one connection as they pass. */
export interface Listener {
  /** From whoever opened the connection. */
  fromClient(bytes: Buffer): void;
  fromServer(bytes: Buffer): void;
  /** The client's side is closed. */
  ended(): void;
}

export interface TapOptions {
  /** Where connections are passed on to. */
  readonly port: number;
  readonly listener: () => Listener;
}

/** A wiretap: passes everything on as it is, at once, and lets somebody listen. */
export class Tap implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open({ port, listener }: TapOptions): Promise<Tap> {
    const server = createServer({ noDelay: true });
    const tap = new Tap(server);
    server.on("connection", (client) => tap.#pass(client, port, listener()));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return tap;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #pass(client: Socket, port: number, listener: Listener): void {
    const target = connect({ port, host: "127.0.0.1", noDelay: true });
    for (const [socket, other] of [
      [client, target],
      [target, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => reset(other));
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroySoon();
      });
    }
    client.on("close", () => listener.ended());
    // Nothing is read from a client, and so nothing heard, before there is somebody to pass it on to.
    target.once("connect", () => {
      client.on("data", (bytes: Buffer) => listener.fromClient(bytes));
      target.on("data", (bytes: Buffer) => listener.fromServer(bytes));
      client.pipe(target);
      target.pipe(client);
    });
  }
}

/** What broke on one side breaks on the other. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
