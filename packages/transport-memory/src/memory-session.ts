import { BridgeError, type Connection, type Session } from "@bridge/ports";
import type { MemoryConsumer } from "./memory-consumer.ts";
import type { MemoryLink } from "./memory-link.ts";

/**
 * A session with the hub. Its receivers hand out messages while their channel is subscribed, its senders send while it
 * is connected.
 */
export class MemorySession implements Session {
  readonly subscriptions = new Set<string>();
  readonly #link: MemoryLink;
  readonly #consumers = new Map<MemoryConsumer, string>();
  #connection: MemoryConnection | undefined;
  #disposed = false;

  constructor(link: MemoryLink) {
    this.#link = link;
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

  /** For connections. */
  subscribed(active: ReadonlySet<string>): void {
    for (const [consumer, channel] of this.#consumers) if (active.has(channel)) consumer.attach();
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
    this.#session.subscribed(this.#active);
    return this.#active;
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
