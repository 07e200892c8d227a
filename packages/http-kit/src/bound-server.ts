import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { getRequestListener, RequestError } from "@hono/node-server";
import type { Random } from "@bridge/ports";
import { refuseOnSocket } from "./client-error.ts";
import { CORRELATION_HEADER, SECURITY_HEADERS } from "./common-headers.ts";

/** What a hono app is to its carrier. */
export interface FetchApp {
  fetch(request: Request, env: object): Response | Promise<Response>;
}

/** A bound server. Disposing it ends every connection at once. */
export interface Listener extends AsyncDisposable {
  readonly port: number;
  /** For a client on this machine. */
  readonly url: string;
  /**
   * Stops listening, ends idle connections, and resolves when the answers under way are out; at the latest when `signal`
   * aborts, by cutting what is left. Idempotent; never rejects.
   */
  close(signal: AbortSignal): Promise<void>;
}

/** A node server that carries an app, with the sockets that it has open. */
export class BoundServer implements Listener {
  readonly #server: Server;
  readonly #scheme: "http" | "https";
  readonly #sockets = new Set<Socket>();
  #closed: Promise<void> | undefined;

  constructor(server: Server, app: FetchApp, random: Random, scheme: "http" | "https") {
    this.#server = server;
    this.#scheme = scheme;
    const current = new WeakMap<object, ServerResponse>();
    const answer = getRequestListener((request, env) => app.fetch(request, env), {
      overrideGlobalObjects: false,
      errorHandler: (error) => refusal(error, random.id()),
    });
    const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
      current.set(incoming.socket, outgoing);
      if (incoming.httpVersion === "1.0") incoming.headers.host ??= "localhost";
      outgoing.once("close", () => this.#endIdle());
      void answer(incoming, outgoing);
    };
    server.on("request", onRequest);
    // Whatever a client expects, it gets the ordinary answer.
    server.on("checkExpectation", onRequest);
    server.on("clientError", (error, socket) => refuseOnSocket(error, socket, current.get(socket), random.id()));
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  get port(): number {
    return this.#address.port;
  }

  get url(): string {
    const { address, family } = this.#address;
    const host = address === "::" || address === "0.0.0.0" ? "localhost" : address;
    return `${this.#scheme}://${family === "IPv6" && host === address ? `[${host}]` : host}:${this.port}`;
  }

  async close(signal: AbortSignal): Promise<void> {
    this.#closed ??= new Promise((resolve) => this.#server.close(() => resolve()));
    this.#server.closeIdleConnections();
    // To Node 24, a connection on which nothing was ever sent is not idle.
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
    const cut = (): void => {
      for (const socket of this.#sockets) socket.destroy();
    };
    if (signal.aborted) cut();
    signal.addEventListener("abort", cut, { once: true });
    await this.#closed;
    signal.removeEventListener("abort", cut);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close(AbortSignal.abort());
  }

  get #address(): AddressInfo {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the listener is closed");
    return address;
  }

  /** Once we are closing, a connection is not kept for another request. */
  #endIdle(): void {
    if (this.#closed !== undefined) setImmediate(() => this.#server.closeIdleConnections());
  }
}

/** A request that the app never saw, because its target or host is malformed; or a fault of the carrier. */
function refusal(error: unknown, correlationId: string): Response {
  const isRequest = error instanceof RequestError;
  return new Response(JSON.stringify({ error: isRequest ? "malformed request" : "internal error" }), {
    status: isRequest ? 400 : 500,
    headers: { ...SECURITY_HEADERS, "Content-Type": "application/json", [CORRELATION_HEADER]: correlationId },
  });
}
