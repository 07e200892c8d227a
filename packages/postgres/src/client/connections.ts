import { type Clock } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import { Client, type ClientConfig, Pool, type PoolClient } from "pg";
import type { Server } from "./client-config.ts";
import { leavesUsable } from "./failure.ts";

/** How long a connection that nobody needs stays open. */
const IDLE_MS = 30_000;
/** What a farewell may take. */
const CLOSE_MS = 500;

/**
 * Connections to one server, lent one at a time. A connection whose statement was not answered is cut off, never lent
 * again; those that lie idle meanwhile are not trusted any more either.
 */
export class Connections implements AsyncDisposable {
  readonly #pool: Pool;
  readonly #server: Server;
  readonly #clock: Clock;
  /** Those that are open, with when each has answered last, in monotonic milliseconds. */
  readonly #open = new Map<PoolClient, number>();
  /** Those that are open or on their way. */
  readonly #made = new Set<Client>();
  readonly #doubtful = new WeakSet<PoolClient>();

  constructor(server: Server, size: number, connectTimeoutMs: number, clock: Clock) {
    this.#server = server;
    this.#clock = clock;
    const made = this.#made;
    // The pool tells of none before it is connected, and a farewell does not wait for that.
    class Made extends Client {
      constructor(config?: ClientConfig) {
        super(config);
        made.add(this);
        this.once("end", () => made.delete(this));
      }
    }
    this.#pool = new Pool({
      max: size,
      idleTimeoutMillis: IDLE_MS,
      connectionTimeoutMillis: connectTimeoutMs,
      Client: Made,
    });
    // Whoever uses the connection is told by its call; one that nobody uses is replaced when it is needed.
    this.#pool.on("error", () => {});
    this.#pool.on("connect", (client) => {
      this.#open.set(client, this.#clock.monotonic());
      client.on("error", () => {});
    });
    this.#pool.on("remove", (client) => this.#open.delete(client));
  }

  /** One that is idle, or a new one. When `signal` aborts before that is there, it is for whoever comes next. */
  async lend(signal: AbortSignal): Promise<PoolClient> {
    for (;;) {
      // The pool reads its options for each connection that it makes.
      if (this.#pool.idleCount === 0) Object.assign(this.#pool.options, await this.#server.config());
      const connecting = this.#pool.connect();
      let client: PoolClient;
      try {
        client = await orAborted(connecting, signal);
      } catch (error) {
        connecting.then(
          (late) => late.release(),
          () => {},
        );
        throw error;
      }
      if (!this.#doubtful.has(client)) return client;
      cutOff(client);
    }
  }

  /** Does something with a connection that was lent, and gives it back; when `signal` aborts before it is done, the connection is cut off. */
  async use<T>(client: PoolClient, work: (client: PoolClient) => Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      const result = await orAborted(work(client), signal);
      this.#answered(client);
      return result;
    } catch (error) {
      if (!signal.aborted && leavesUsable(error)) this.#answered(client);
      else cutOff(client);
      throw error;
    }
  }

  #answered(client: PoolClient): void {
    this.#open.set(client, this.#clock.monotonic());
    client.release();
  }

  /**
   * Those that have not answered since then, in monotonic milliseconds, may be as dead as the one that failed, without anybody having
   * been told.
   */
  doubt(since: number): void {
    for (const [client, answeredAt] of this.#open) if (answeredAt < since) this.#doubtful.add(client);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#pool.ending) return;
    const ended = [...this.#made].map((client) => new Promise<void>((resolve) => client.once("end", resolve)));
    const limit = new AbortController();
    await Promise.race([Promise.all([this.#pool.end(), ...ended]), this.#clock.delay(CLOSE_MS, limit.signal)]);
    limit.abort();
    for (const client of this.#made) client.connection.stream.destroy();
  }
}

function cutOff(client: PoolClient): void {
  client.connection.stream.destroy();
  client.release(true);
}
