import { type Addressing, BridgeError, type Clock, type Envelope, type Sender } from "@bridge/ports";
import type { Dispatcher, Pool as PoolOf } from "undici";
import { Call } from "./call.ts";
import { Destinations } from "./destinations.ts";
import { failureOf, failureWithout, isAcceptance } from "./failure.ts";
import { fillPlaceholder } from "./fill-placeholder.ts";
import { RequestHeaders } from "./request-headers.ts";
import type { SenderOptions } from "./sender-options.ts";
import { tlsConnector } from "./tls-connector.ts";
import { Pool } from "./undici.ts";

/** Sends each message as one HTTP request; accepted means answered 2xx (contract §5, §8). */
export class HttpSender implements Sender {
  readonly addressing: Addressing = { fill: fillPlaceholder };
  readonly #method: Dispatcher.HttpMethod;
  readonly #destinations: Destinations;
  readonly #headers: RequestHeaders;
  readonly #poolOptions: PoolOf.Options;
  readonly #clock: Clock;
  /** By origin: there are no more of them than the options name. */
  readonly #pools = new Map<string, PoolOf>();
  #disposed = false;

  constructor(options: SenderOptions, clock: Clock) {
    this.#method = options.method;
    this.#destinations = new Destinations(options.url, options.allowed_origins);
    this.#headers = new RequestHeaders({
      ...options.headers,
      ...(options.api_key !== undefined && { "x-api-key": options.api_key }),
      ...(options.bearer !== undefined && { authorization: `Bearer ${options.bearer}` }),
    });
    this.#poolOptions = {
      connections: options.max_connections,
      connectTimeout: options.connect_timeout,
      ...(options.tls !== undefined && { connect: tlsConnector(options.tls, options.connect_timeout) }),
      // One request at a time on a connection: behind a slow one, others would wait, and be lost with it.
      pipelining: 1,
      allowH2: false,
      // The engine's signal bounds the whole of a send.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    this.#clock = clock;
  }

  /** One promise, and no async function, of which each message would pay for several. */
  send(envelope: Envelope, address: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (this.#disposed) throw new BridgeError("CONNECTION_LOST", "the sender is closed", { charged: false });
      const { origin, path } = this.#destinations.resolve(address);
      const request = { path, method: this.#method, headers: this.#headers.of(envelope), body: envelope.payload };
      const call = new Call(signal, (answer, error) => {
        if (answer === undefined) reject(signal.aborted ? signal.reason : failureWithout(error, origin));
        else if (isAcceptance(answer)) resolve();
        else reject(failureOf(answer, origin, this.#clock.now()));
      });
      this.#pool(origin).dispatch(request, call);
    });
  }

  counters(): Readonly<Record<string, number>> {
    let [connections, queued] = [0, 0];
    for (const { stats } of this.#pools.values()) {
      connections += stats.connected;
      queued += stats.queued;
    }
    return { connections, queued, droppedHeaders: this.#headers.dropped };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }

  #pool(origin: string): PoolOf {
    let pool = this.#pools.get(origin);
    if (pool === undefined) {
      pool = new Pool(origin, this.#poolOptions);
      this.#pools.set(origin, pool);
    }
    return pool;
  }
}
