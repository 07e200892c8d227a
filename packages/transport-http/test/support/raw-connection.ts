import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A connection on which a test writes what it wants, well-formed or not. */
export class RawConnection implements AsyncDisposable {
  readonly socket: Socket;
  #received = "";

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (bytes: Buffer) => (this.#received += bytes.toString("latin1")));
    // A reset is one of the ways in which a server may end it.
    socket.on("error", () => {});
  }

  static async open(port: number): Promise<RawConnection> {
    const socket = connect({ port, host: "127.0.0.1" });
    await once(socket, "connect");
    return new RawConnection(socket);
  }

  get received(): string {
    return this.#received;
  }

  write(text: string): void {
    this.socket.write(text, "latin1");
  }

  /** Resolves once what has arrived matches. */
  async receives(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.#received)) {
      if (this.socket.closed) throw new Error(`closed after: ${this.#received}`);
      await Promise.race([once(this.socket, "data"), once(this.socket, "close")]);
    }
    return this.#received;
  }

  /** Everything, up to the end of the connection. */
  async ends(): Promise<string> {
    if (!this.socket.closed) await once(this.socket, "close");
    return this.#received;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.socket.closed) return;
    this.socket.destroy();
    await once(this.socket, "close");
  }
}
