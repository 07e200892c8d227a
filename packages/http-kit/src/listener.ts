import type { BoundedServer, ListenerStats } from "@bridge/net-kit";

/** What a hono app is to its carrier. */
export interface FetchApp {
  /** `env.closing` aborts when the listener is going to close: what goes on until somebody ends it is to end then. */
  fetch(request: Request, env: object): Response | Promise<Response>;
  /** Those of all its paths, for the `Allow` of an answer to `CONNECT`, which has no path. Default: none. */
  readonly methods?: readonly string[];
}

/** A bound server. Disposing it ends every connection at once. */
export interface Listener extends AsyncDisposable {
  readonly port: number;
  /** For a client on this machine. */
  readonly url: string;
  stats(): ListenerStats;
  /**
   * Has streams say goodbye, stops listening, ends idle connections, and resolves when the answers under way are out; at the latest when `signal`
   * aborts, by cutting what is left. Idempotent; never rejects.
   */
  close(signal: AbortSignal): Promise<void>;
}

/** A server as those who have opened it see it. */
export class AppListener implements Listener {
  readonly #server: BoundedServer;
  readonly #scheme: "http" | "https";
  readonly #closing: AbortController;

  /** `closing` is aborted as the first thing of its end. */
  constructor(server: BoundedServer, scheme: "http" | "https", closing: AbortController) {
    this.#server = server;
    this.#scheme = scheme;
    this.#closing = closing;
  }

  get port(): number {
    return this.#server.address.port;
  }

  get url(): string {
    const { address, family } = this.#server.address;
    const host = address === "::" || address === "0.0.0.0" ? "localhost" : address;
    return `${this.#scheme}://${family === "IPv6" && host === address ? `[${host}]` : host}:${this.port}`;
  }

  stats(): ListenerStats {
    return this.#server.stats();
  }

  close(signal: AbortSignal): Promise<void> {
    this.#closing.abort(new Error("the listener closes"));
    return this.#server.close(signal);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error("the listener closes"));
    return this.#server[Symbol.asyncDispose]();
  }
}
