import { createServer as createHttpServer, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { type Clock, type Logger } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import { type ClientMemory, processClientMemory } from "./client-memory.ts";
import { Connections } from "./connections.ts";
import { forOneHost, inKnownCoding, noTunnel, refuseExpectation } from "./refusal.ts";
import { refusalOf, refuseOnSocket } from "./refuse-on-socket.ts";
import { RenewedTls } from "./renewed-tls.ts";
import type { TlsFiles } from "./tls-files.ts";

/** What a server bounds; times in milliseconds. */
export interface ServerLimits {
  /** Open at once; further ones take the place of idle ones. */
  readonly connections: number;
  /** The size of a request's header, in bytes. Above it: 431. */
  readonly headerSize: number;
  /** From the first byte of a request to the end of its header. Above it: 408. */
  readonly headerTimeoutMs: number;
  /** From the first byte of a request to the end of its body. Above it: 408. */
  readonly requestTimeoutMs: number;
  /** How long an idle connection is kept: longer than proxies usually keep theirs, so that they close first. */
  readonly idleTimeoutMs: number;
  readonly handshakeTimeoutMs: number;
  /** A client that takes nothing of an answer for this long is cut. */
  readonly answerTimeoutMs: number;
}

export interface BoundedServerOptions {
  /** Default: every interface. */
  readonly host: string | undefined;
  readonly port: number;
  readonly limits: ServerLimits;
  /** Default: plain HTTP. */
  readonly tls: TlsFiles | undefined;
  /** Whether the parser refuses a request without `Host`. */
  readonly requireHostHeader: boolean;
  /** Take the requests, by the event of the platform's server that brings them. */
  readonly on: Readonly<Partial<Record<"request" | "checkContinue", RequestListener>>>;
  /** What `Allow` names where a request has no path. */
  readonly methods: readonly string[];
  /** Besides the usual ones, on what is refused before it is a request. */
  readonly refusalHeaders: () => Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Default: that of all listeners of this process. */
  readonly memory?: ClientMemory;
}

/** What there is to be seen of a listener. */
export interface ListenerStats {
  readonly connections: number;
  /** Ended for newer ones, so far. */
  readonly connectionsEnded: number;
  /** Not let in, because every connection was being answered, so far. */
  readonly connectionsRefused: number;
  /** Cut because their clients did not take their answers, so far. */
  readonly connectionsCut: number;
  /** Ended because a request was not complete in time, so far: answered 408, unless answers before it were still to come. */
  readonly connectionsTimedOut: number;
  /** Absent without TLS. */
  readonly tls?: {
    /** When the certificate in force expires, in epoch milliseconds. */
    readonly expiresAt: number;
    /** Whether the files hold something that cannot be used, so that an older certificate stays in force. */
    readonly stale: boolean;
    /** Connections that failed before their first request, so far. */
    readonly handshakesFailed: number;
  };
}

/** While it closes, a connection that has become idle is ended within this time. */
const CLOSE_SWEEP_MS = 20;
/** While it closes, a client may take nothing of its answer for so long. */
const MOST_UNTAKEN_AT_CLOSE_MS = 5_000;
/** How long a request may stay without being complete, or an answer without being taken, before the next check of its bound. */
const MAX_CHECK_INTERVAL_MS = 1_000;

/** A server of HTTP, with or without TLS, that a hostile caller cannot make grow or block. */
export class BoundedServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #clock: Clock;
  readonly #connections: Connections;
  readonly #tls: RenewedTls | undefined;
  readonly #looks: Disposable;
  #handshakesFailed = 0;
  #timedOut = 0;
  #closed: Promise<void> | undefined;
  #answerTimeoutMs: number;

  private constructor(server: Server, tls: RenewedTls | undefined, options: BoundedServerOptions) {
    const { limits, methods, refusalHeaders, clock, logger } = options;
    this.#server = server;
    this.#tls = tls;
    this.#clock = clock;
    const connections = new Connections(limits.connections, clock, options.memory ?? processClientMemory, logger);
    this.#connections = connections;
    this.#answerTimeoutMs = limits.answerTimeoutMs;
    const lookMs = Math.min(MAX_CHECK_INTERVAL_MS, limits.answerTimeoutMs);
    this.#looks = clock.every(lookMs, () => connections.cutUntaken(this.#answerTimeoutMs));
    server.on("connection", (socket: Socket) => connections.add(socket, tls !== undefined));
    server.on("secureConnection", (socket: Socket) => connections.secured(socket));
    server.on("tlsClientError", (_error, socket: Socket) => {
      this.#handshakesFailed++;
      // What is written before a handshake waits for it, and so would the end behind it.
      socket.destroy();
    });
    server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
      if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") this.#timedOut++;
      refuseOnSocket(refusalOf(error), socket, connections.lastOf(socket), refusalHeaders());
    });
    server.on("connect", (_incoming, socket) => {
      // From here on nobody but us listens to it.
      socket.on("error", () => {}).resume();
      refuseOnSocket(noTunnel(methods), socket, connections.lastOf(socket), refusalHeaders());
    });
    const on = { ...options.on, checkExpectation: refuseExpectation(refusalHeaders) };
    for (const [event, listener] of Object.entries(on)) {
      const take = forOneHost(inKnownCoding(listener, refusalHeaders), refusalHeaders);
      server.on(event, ((incoming, outgoing) => connections.use(incoming, outgoing, take)) satisfies RequestListener);
    }
    const closeIdle = server.closeIdleConnections.bind(server);
    // Called by its `close` too.
    server.closeIdleConnections = () => connections.sparingUnread(closeIdle);
    // The platform's server would silently leave out the headers beyond its count; their size bounds them.
    server.maxHeadersCount = 0;
  }

  /**
   * Resolves once it is bound. `signal` bounds the binding, not the life of the server.
   * @throws Error of the platform when the address cannot be listened on; naming the TLS file that cannot be used
   */
  static async open(options: BoundedServerOptions, signal: AbortSignal): Promise<BoundedServer> {
    const server = await BoundedServer.#create(options);
    try {
      await orAborted(bind(server.#server, options), signal);
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
    return server;
  }

  get address(): AddressInfo {
    // A text only where the server listens on a pipe, which ours does not.
    const address = this.#server.address() as AddressInfo | null;
    if (address === null) throw new Error("the listener is closed");
    return address;
  }

  stats(): ListenerStats {
    const { size, ended, refused, cut } = this.#connections;
    const tls = this.#tls && {
      expiresAt: this.#tls.expiresAt,
      stale: this.#tls.stale,
      handshakesFailed: this.#handshakesFailed,
    };
    return {
      connections: size,
      connectionsEnded: ended,
      connectionsRefused: refused,
      connectionsCut: cut,
      connectionsTimedOut: this.#timedOut,
      ...(tls !== undefined && { tls }),
    };
  }

  /** A fault of the listener itself; it goes on if it can. */
  onFault(listener: (error: Error) => void): void {
    this.#server.on("error", listener);
  }

  /**
   * Stops listening, ends idle connections, and resolves when the answers under way are out; requests that wait behind one on
   * its connection get none, and who takes nothing for 5 s is cut. At the latest when `signal` aborts, by cutting what is left.
   * Idempotent; never rejects.
   */
  async close(signal: AbortSignal): Promise<void> {
    this.#closed ??= new Promise((resolve) => this.#server.close(() => resolve()));
    this.#tls?.[Symbol.dispose]();
    this.#answerTimeoutMs = Math.min(this.#answerTimeoutMs, MOST_UNTAKEN_AT_CLOSE_MS);
    this.#connections.endAfterAnswers();
    this.#endIdle();
    // Nobody but us ends a connection that becomes idle now.
    const sweeper = this.#clock.every(CLOSE_SWEEP_MS, () => this.#endIdle());
    const cut = (): void => this.#connections.endAll();
    if (signal.aborted) cut();
    signal.addEventListener("abort", cut);
    await this.#closed;
    signal.removeEventListener("abort", cut);
    sweeper[Symbol.dispose]();
    this.#looks[Symbol.dispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close(AbortSignal.abort());
  }

  #endIdle(): void {
    this.#server.closeIdleConnections();
    this.#connections.endUnused();
  }

  static async #create(options: BoundedServerOptions): Promise<BoundedServer> {
    const { limits, tls: files, clock, logger } = options;
    const http = {
      maxHeaderSize: limits.headerSize,
      headersTimeout: limits.headerTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: Math.min(MAX_CHECK_INTERVAL_MS, limits.headerTimeoutMs),
      keepAliveTimeout: limits.idleTimeoutMs,
      requireHostHeader: options.requireHostHeader,
    };
    if (files === undefined) return new BoundedServer(createHttpServer(http), undefined, options);
    const tls = await RenewedTls.load(files, { clock, logger });
    const server = createHttpsServer({
      ...http,
      ...tls.options,
      handshakeTimeout: limits.handshakeTimeoutMs,
      requestCert: files.clientCaFile !== undefined,
      // Of those certificates that are asked for.
      rejectUnauthorized: true,
    });
    tls.keep(server);
    return new BoundedServer(server, tls, options);
  }
}

function bind(server: Server, { host, port }: BoundedServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
