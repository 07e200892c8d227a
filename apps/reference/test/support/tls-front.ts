import { once } from "node:events";
import { type AddressInfo, connect, createServer as createNetServer, type Server, type Socket } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import type { Authority } from "@bridge/tooling/certificates";

export interface TlsFrontOptions {
  /** Where the broker is, which stands ready on loopback. */
  readonly port: number;
  readonly issuer: Authority;
  /** Whether the broker speaks first, and TLS begins behind its first line. */
  readonly greets?: boolean;
}

/** TLS in front of a broker: lets in who has a certificate of the authority, and remembers who that was. */
export class TlsFront implements AsyncDisposable {
  /** The names in the certificates of all who came, in turn. */
  readonly came: string[] = [];
  readonly #options: TlsFrontOptions;
  readonly #open = new Set<Socket>();
  /** Those whose broker has been heard, by the port of the client. */
  readonly #greeted = new Map<number, Socket>();
  readonly #tls: Server;
  readonly #server: Server;

  private constructor(options: TlsFrontOptions) {
    const { issuer, greets = false } = options;
    this.#options = options;
    const { cert, key } = issuer.issue("front");
    const secured = { cert, key, ca: issuer.cert, requestCert: true, rejectUnauthorized: true };
    const tls = createServer(secured, (client) => this.#letIn(client));
    tls.on("tlsClientError", () => {});
    this.#tls = tls;
    this.#server = greets ? createNetServer((client) => void this.#greet(client)) : tls;
  }

  static async start(options: TlsFrontOptions): Promise<TlsFront> {
    const front = new TlsFront(options);
    await once(front.#server.listen(0, "127.0.0.1"), "listening");
    return front;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** How many connections there are. */
  get open(): number {
    return this.#open.size;
  }

  /** Ends all connections. */
  cut(): void {
    for (const socket of this.#open) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    await closed;
  }

  #upstream(): Socket {
    const upstream = connect(this.#options.port, "127.0.0.1");
    return upstream.on("error", () => {});
  }

  #letIn(client: TLSSocket): void {
    const upstream = this.#greeted.get(client.remotePort ?? 0) ?? this.#upstream();
    this.#greeted.delete(client.remotePort ?? 0);
    this.came.push([client.getPeerCertificate().subject.CN].flat().join(" "));
    this.#open.add(client);
    client
      .on("error", () => {})
      .on("close", () => {
        this.#open.delete(client);
        upstream.destroy();
      });
    client.pipe(upstream).pipe(client);
  }

  /** Passes on what a NATS server says of itself, and that it wants TLS. */
  async #greet(client: Socket): Promise<void> {
    client.on("error", () => {});
    const upstream = this.#upstream();
    const [line] = (await once(upstream, "data")) as [Buffer];
    const info = JSON.parse(line.toString().replace(/^INFO /, "")) as object;
    this.#greeted.set(client.remotePort ?? 0, upstream);
    client.write(`INFO ${JSON.stringify({ ...info, tls_required: true, tls_available: true })}\r\n`);
    this.#tls.emit("connection", client);
  }
}
