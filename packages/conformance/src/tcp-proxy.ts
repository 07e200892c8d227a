import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, connect, type Server, type Socket } from "node:net";
import { Pump } from "./harness/pump.ts";

export interface TcpProxyOptions {
  /** Where connections are passed on to. */
  readonly target: { readonly host?: string; readonly port: number };
}

/** A TCP proxy on loopback that can be told to misbehave. What it does to a connection is what a bad network does. */
export interface TcpProxy extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** How many connections pass through at the moment. */
  readonly connections: number;
  /** Closes the open connections. */
  cut(): void;
  /** Breaks the open connections with a reset. */
  reset(): void;
  /** Lets nothing through, in either direction, and keeps connections open. New ones are taken and stay silent. */
  freeze(): void;
  /** Lets bytes through that many milliseconds late, in each direction. */
  delay(ms: number): void;
  /** Lets no more bytes than that through in a second, on each connection and in each direction. */
  rate(bytesPerSecond: number): void;
  /** Refuses new connections; open ones stay. */
  refuse(): void;
  /** Ends {@link freeze}, {@link delay}, {@link rate} and {@link refuse}. What was held back flows on. */
  restore(): Promise<void>;
}

const HOST = "127.0.0.1";
/** Below the ports that systems hand out by themselves, so that nobody takes the port while it refuses connections. */
const PORTS = { from: 20_000, to: 32_000 } as const;
const ATTEMPTS = 50;

/** Opens a proxy on a free port. */
export async function tcpProxy({ target }: TcpProxyOptions): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  let server: Server | undefined;
  let frozen = false;
  let delayMs = 0;
  let bytesPerSecond = Infinity;

  function accept(client: Socket): void {
    const upstream = connect({ port: target.port, host: target.host ?? HOST, allowHalfOpen: true });
    const pair = new Pair(client, upstream, () => pairs.delete(pair));
    pairs.add(pair);
    pair.delay(delayMs);
    pair.rate(bytesPerSecond);
    if (frozen) pair.freeze();
  }

  async function listen(port: number): Promise<void> {
    const listener = createServer({ allowHalfOpen: true }, accept);
    listener.listen(port, HOST);
    await once(listener, "listening");
    server = listener;
  }

  function refuse(): void {
    server?.close();
    server = undefined;
  }

  const port = await listenSomewhere(listen);
  return {
    host: HOST,
    port,
    get connections() {
      return pairs.size;
    },
    cut() {
      for (const pair of pairs) pair.cut();
    },
    reset() {
      for (const pair of pairs) pair.reset();
    },
    freeze() {
      frozen = true;
      for (const pair of pairs) pair.freeze();
    },
    delay(ms) {
      delayMs = ms;
      for (const pair of pairs) pair.delay(ms);
    },
    rate(limit) {
      bytesPerSecond = limit;
      for (const pair of pairs) pair.rate(limit);
    },
    refuse,
    async restore() {
      frozen = false;
      delayMs = 0;
      bytesPerSecond = Infinity;
      for (const pair of pairs) pair.restore();
      if (server === undefined) await listen(port);
    },
    async [Symbol.asyncDispose]() {
      refuse();
      await Promise.all(Array.from(pairs, (pair) => pair.close()));
    },
  };
}

async function listenSomewhere(listen: (port: number) => Promise<void>): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = randomInt(PORTS.from, PORTS.to);
    try {
      await listen(port);
      return port;
    } catch (error) {
      const taken = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
      if (!taken || attempt === ATTEMPTS) throw error;
    }
  }
}

/** One connection through the proxy: both its sockets, and a pump for each direction. */
class Pair {
  readonly #sockets: readonly [client: Socket, upstream: Socket];
  readonly #pumps: readonly [Pump, Pump];
  readonly #gone: Promise<unknown>;

  constructor(client: Socket, upstream: Socket, onGone: () => void) {
    this.#sockets = [client, upstream];
    this.#pumps = [new Pump(client, upstream), new Pump(upstream, client)];
    this.#gone = Promise.all(this.#sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve))));
    upstream.on("error", () => resetSocket(client));
    client.on("error", () => resetSocket(upstream));
    for (const socket of this.#sockets) socket.setNoDelay(true);
    void this.#gone.then(onGone);
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    for (const pump of this.#pumps) pump.stop();
  }

  reset(): void {
    for (const socket of this.#sockets) resetSocket(socket);
    for (const pump of this.#pumps) pump.stop();
  }

  freeze(): void {
    for (const pump of this.#pumps) pump.freeze();
  }

  delay(ms: number): void {
    for (const pump of this.#pumps) pump.delay(ms);
  }

  rate(bytesPerSecond: number): void {
    for (const pump of this.#pumps) pump.rate(bytesPerSecond);
  }

  restore(): void {
    for (const pump of this.#pumps) pump.restore();
  }

  async close(): Promise<void> {
    this.cut();
    await this.#gone;
  }
}

/** A socket that is shutting down cannot be reset: the platform then keeps its handle for ever. */
function resetSocket(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
