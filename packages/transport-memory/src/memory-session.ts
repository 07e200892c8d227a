import { BridgeError, type Clock, type Connection, type Session } from "@bridge/ports";
import { Slices } from "@bridge/ports/internal";
import type { MemoryConsumer } from "./memory-consumer.ts";
import type { MemoryLink } from "./memory-link.ts";

/**
 * A session with the hub. Its receivers hand out messages while their channel is subscribed, its senders send while it
 * is connected.
 */
export class MemorySession implements Session {
  readonly subscriptions = new Set<string>();
  readonly #link: MemoryLink;
  readonly #clock: Clock;
  readonly #consumers = new Map<MemoryConsumer, string>();
  #connection: MemoryConnection | undefined;
  #disposed = false;

  constructor(link: MemoryLink, clock: Clock) {
    this.#link = link;
    this.#clock = clock;
  }

  /** Aborts when the connection is gone; `undefined` while there is none. */
  get connected(): AbortSignal | undefined {
    return this.#connection?.signal;
  }

  async connect(signal: AbortSignal): Promise<Connection> {
    signal.throwIfAborted();
    await this.#link.connects.pass(signal);
    if (this.#disposed) throw new BridgeError("INTERNAL", `session "${this.#link.sessionId}" is disposed`);
    if (this.#connection !== undefined) {
      throw new BridgeError("INTERNAL", `session "${this.#link.sessionId}" is connected: close its connection first`);
    }
    const connection = new MemoryConnection(this.#link, this);
    this.#connection = connection;
    return connection;
  }

  /** For receivers: an iteration over `channel` has begun. */
  add(consumer: MemoryConsumer, channel: string): void {
    this.#consumers.set(consumer, channel);
    if (this.#connection?.active.has(channel) === true) consumer.attach();
  }

  /** For receivers: an iteration has ended. */
  remove(consumer: MemoryConsumer): void {
    this.#consumers.delete(consumer);
  }

  /** For connections: the iterations over these channels begin, in slices, for there may be thousands. */
  async subscribed(active: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const begin = ([consumer, channel]: readonly [MemoryConsumer, string]): void => {
      // Those that have ended meanwhile are not here any more.
      if (active.has(channel) && this.#consumers.has(consumer)) consumer.attach();
    };
    await new Slices(this.#clock).each([...this.#consumers], begin, signal);
  }

  /** For connections. */
  lost(cause: BridgeError): void {
    this.#connection = undefined;
    for (const consumer of this.#consumers.keys()) consumer.detach(cause);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    await this.#connection?.[Symbol.asyncDispose]();
  }
}

class MemoryConnection implements Connection {
  readonly closed: Promise<BridgeError | undefined>;
  readonly #closed = Promise.withResolvers<BridgeError | undefined>();
  readonly #controller = new AbortController();
  readonly #link: MemoryLink;
  readonly #session: MemorySession;
  readonly #registration: Disposable;
  #active: ReadonlySet<string> = new Set();

  constructor(link: MemoryLink, session: MemorySession) {
    this.#link = link;
    this.#session = session;
    this.closed = this.#closed.promise;
    this.#registration = link.connection((cause) => this.#end(cause));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The channels that the hub has acknowledged. */
  get active(): ReadonlySet<string> {
    return this.#active;
  }

  async reconcile(signal: AbortSignal): Promise<ReadonlySet<string>> {
    signal.throwIfAborted();
    await this.#link.reconciles.pass(signal, this.signal);
    this.signal.throwIfAborted();
    this.#active =
      this.#link.role === "target"
        ? new Set()
        : new Set([...this.#session.subscriptions].filter((channel) => this.#link.acknowledges(channel)));
    const active = this.#active;
    await this.#session.subscribed(active, AbortSignal.any([signal, this.signal]));
    return active;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end(undefined);
  }

  #end(cause: BridgeError | undefined): void {
    if (this.signal.aborted) return;
    const reason =
      cause ?? new BridgeError("CONNECTION_LOST", `session "${this.#link.sessionId}": the connection was closed`);
    this.#controller.abort(reason);
    this.#registration[Symbol.dispose]();
    this.#session.lost(reason);
    this.#closed.resolve(cause);
  }
}
