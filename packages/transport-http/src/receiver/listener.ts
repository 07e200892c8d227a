import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { BoundedServer, type ListenerStats, type ServerLimits, type TlsFiles } from "@bridge/net-kit";
import { type Clock, type Logger, systemClock } from "@bridge/ports";
import { deadline } from "@bridge/ports/internal";
import type { ListenAddress } from "./listen-address.ts";
import { listenError } from "./listen-error.ts";
import { COMMON_HEADERS, malformed, REFUSALS, refuse } from "./reply.ts";
import { requestPath } from "./request-path.ts";

/** What a listener bounds for all of its receivers; times in milliseconds. */
export interface ListenerLimits extends ServerLimits {
  /** How long callers may take to read their last answers when the listener closes. */
  readonly closeTimeoutMs: number;
}

export const LISTENER_LIMITS: ListenerLimits = {
  connections: 10_000,
  headerSize: 16_384,
  headerTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  idleTimeoutMs: 65_000,
  handshakeTimeoutMs: 10_000,
  answerTimeoutMs: 10_000,
  closeTimeoutMs: 2_000,
};

/** What answers the requests below one path. */
export interface Mount {
  /** The id of the receiver, for errors. */
  readonly id: string;
  /** `rest` is the path after the mount's own, without the slash between them. */
  handle(incoming: IncomingMessage, outgoing: ServerResponse, rest: string): void;
}

export interface ListenerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: ListenerLimits;
  /** Default: plain HTTP. */
  readonly tls: TlsFiles | undefined;
}

/** One HTTP server and the receivers that it serves. */
export class Listener {
  readonly address: ListenAddress;
  readonly #deps: ListenerDeps;
  readonly tls: TlsFiles | undefined;
  #server: BoundedServer | undefined;
  /**
   * By path, longest first, `/` written as the empty string. `undefined` is a receiver that has closed: until the
   * listener does, or its successor is there, its callers are asked to come back, for to them 404 would mean never.
   */
  #mounts: readonly (readonly [path: string, mount: Mount | undefined])[] = [];

  private constructor(address: ListenAddress, deps: ListenerDeps) {
    this.address = address;
    this.tls = deps.tls;
    this.#deps = deps;
  }

  /** @throws Error naming the address and the remedy when it cannot be listened on, or the TLS file that is of no use */
  static async open(address: ListenAddress, deps: ListenerDeps): Promise<Listener> {
    const listener = new Listener(address, deps);
    const take: RequestListener = (incoming, outgoing) => listener.#take(incoming, outgoing);
    const { host, port } = address;
    const options = { ...deps, host, port, requireHostHeader: true, refusalHeaders: () => COMMON_HEADERS };
    try {
      // Those who wait for it give up by themselves.
      const unbounded = new AbortController().signal;
      const on = { request: take, checkContinue: take };
      listener.#server = await BoundedServer.open({ ...options, on, methods: ["POST"] }, unbounded);
    } catch (error) {
      throw listenError(address, error);
    }
    listener.#server.onFault((error) =>
      deps.logger.error("HTTP listener failed", { addr: address.text, error: error.message }),
    );
    return listener;
  }

  /** The port that it listens on: another one than asked for when that was 0. */
  get port(): number {
    return this.#server?.address.port ?? this.address.port;
  }

  stats(): ListenerStats | undefined {
    return this.#server?.stats();
  }

  /** @throws Error when another receiver has the path */
  mount(path: string, mount: Mount): Disposable {
    const key = path === "/" ? "" : path;
    const present = this.#mounts.find(([other]) => other === key)?.[1];
    if (present !== undefined) {
      throw new Error(
        `receiver "${mount.id}": the path ${path} on ${this.address.text} belongs to receiver "${present.id}" already: give each a path of its own`,
      );
    }
    this.#set(key, mount);
    return { [Symbol.dispose]: () => this.#set(key, undefined) };
  }

  /** From now on the paths of receivers that have closed are as unknown as any other. */
  forgetClosed(): void {
    this.#mounts = this.#mounts.filter(([, mount]) => mount !== undefined);
  }

  /** Stops listening, lets the answers under way go out, and cuts what is left when that takes too long. */
  async close(): Promise<void> {
    using bound = deadline(
      systemClock,
      this.#deps.limits.closeTimeoutMs,
      new Error("callers took too long to read their answers"),
    );
    await this.#server?.close(bound.signal);
  }

  #set(key: string, mount: Mount | undefined): void {
    const others = this.#mounts.filter(([path]) => path !== key);
    this.#mounts = [...others, [key, mount] as const].toSorted(([a], [b]) => b.length - a.length);
  }

  #take(incoming: IncomingMessage, outgoing: ServerResponse): void {
    try {
      this.#dispatch(incoming, outgoing);
    } catch (error) {
      this.#deps.logger.error("HTTP request failed", { addr: this.address.text, error: String(error) });
      if (outgoing.headersSent) outgoing.destroy();
      else refuse(incoming, outgoing, REFUSALS.internal);
    }
  }

  #dispatch(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const path = requestPath(incoming);
    if (typeof path !== "string") {
      refuse(incoming, outgoing, malformed(path.malformed));
      return;
    }
    for (const [prefix, mount] of this.#mounts) {
      if (!path.startsWith(prefix) || (path.length > prefix.length && path[prefix.length] !== "/")) continue;
      if (mount === undefined) refuse(incoming, outgoing, REFUSALS.stopping);
      else mount.handle(incoming, outgoing, path.slice(prefix.length + 1));
      return;
    }
    refuse(incoming, outgoing, REFUSALS.notFound);
  }
}
