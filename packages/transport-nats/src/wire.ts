import { watchReading, deadline, orAborted } from "@bridge/ports/internal";
import { BridgeError, systemClock } from "@bridge/ports";
import {
  type ConnectionOptions,
  connect,
  type NatsConnection,
  type PermissionViolationError,
  PermissionViolationError as Violation,
} from "@nats-io/transport-node";
import { AttemptSockets } from "./attempt-sockets.ts";
import { guarded } from "./guarded-parser.ts";
import { connectError, lossError, unreadable } from "./server-error.ts";
import { FirstLine, ServerLines } from "./server-lines.ts";

/** How long a server may take to read what it was told before we leave. */
const CLOSE_TIMEOUT_MS = 2_000;

export interface WireOptions {
  readonly connection: ConnectionOptions;
  /** The server's address, as it may be shown. */
  readonly label: string;
  /** The largest message that may be announced. */
  readonly maxMessageBytes: number;
}

export interface WireHandlers {
  /** The server has refused to publish, or to subscribe. */
  denied(violation: PermissionViolationError): void;
  /** The connection is gone, for this reason unless it was closed on purpose. Called once, before `closed` settles. */
  gone(cause: BridgeError | undefined): void;
}

/** One network connection to a server. The library does not make another one by itself: that is switched off. */
export class Wire {
  readonly connection: NatsConnection;
  readonly #label: string;
  readonly #sockets: AttemptSockets;
  readonly #closed = Promise.withResolvers<BridgeError | undefined>();
  #cause: BridgeError | undefined;
  #closing: Promise<void> | undefined;
  #onPurpose = false;
  #gone = false;

  private constructor(label: string, connection: NatsConnection, sockets: AttemptSockets, handlers: WireHandlers) {
    this.#label = label;
    this.connection = connection;
    this.#sockets = sockets;
    void this.#watch(handlers);
    void connection.closed().then((error) => this.#onClosed(error ?? undefined, handlers));
  }

  /** One attempt. When it fails or `signal` aborts, nothing is left open. */
  static async open(options: WireOptions, handlers: WireHandlers, signal: AbortSignal): Promise<Wire> {
    const { connection, label, maxMessageBytes } = options;
    const first = new FirstLine(label);
    const lines = new ServerLines(label, maxMessageBytes);
    const failure = new AbortController();
    let wire: Wire | undefined;
    const failed = (thrown: unknown): void => {
      const cause = unreadable(label, thrown);
      failure.abort(cause);
      wire?.lose(cause);
    };
    const sockets = new AttemptSockets((socket) => watchReading(socket, (bytes) => first.look(bytes), failed));
    try {
      const attempt = guarded({ look: (bytes) => lines.look(bytes), failed }, () =>
        sockets.run(() => connect({ ...connection, reconnect: false, ignoreClusterUpdates: true })),
      );
      const made = await orAborted(attempt, AbortSignal.any([signal, failure.signal]));
      wire = new Wire(label, made, sockets, handlers);
      return wire;
    } catch (error) {
      sockets.destroy();
      if (failure.signal.aborted) throw failure.signal.reason;
      if (signal.aborted && !(BridgeError.is(error) && error.code === "TIMEOUT")) throw signal.reason;
      throw connectError(label, error as Error, first.silent);
    }
  }

  get gone(): boolean {
    return this.#gone;
  }

  /** Settles once: with the cause, or `undefined` when it was closed on purpose. Never rejects. */
  get closed(): Promise<BridgeError | undefined> {
    return this.#closed.promise;
  }

  /** Resolves when the server has read and answered everything so far; rejects when the connection is lost before. */
  async flush(): Promise<void> {
    // The library forgets who waits when a connection ends.
    const lost = this.closed.then((cause) => {
      throw cause ?? new BridgeError("CONNECTION_LOST", "the connection was closed");
    });
    await Promise.race([this.connection.flush(), lost]);
  }

  /** Drops the connection at once because of `cause`. */
  lose(cause: BridgeError): void {
    this.#cause ??= cause;
    this.#sockets.destroy();
  }

  /**
   * Waits until the server has read everything, and closes; `cause` is why, if not on purpose. Of a server that is known to
   * read nothing, it takes no leave.
   */
  close(cause?: BridgeError, { reads = true }: { readonly reads?: boolean } = {}): Promise<void> {
    if (this.#gone) return Promise.resolve();
    this.#closing ??= this.#close(cause, reads);
    return this.#closing;
  }

  async #close(cause: BridgeError | undefined, reads: boolean): Promise<void> {
    this.#cause ??= cause;
    this.#onPurpose = this.#cause === undefined;
    if (reads) await this.#takeLeave();
    this.#sockets.destroy();
    await this.closed;
  }

  async #takeLeave(): Promise<void> {
    using bound = deadline(systemClock, CLOSE_TIMEOUT_MS, new BridgeError("TIMEOUT", "the server reads nothing"));
    try {
      await orAborted(this.flush(), bound.signal);
      await orAborted(this.connection.close(), bound.signal);
    } catch {
      // It is gone already, or does not answer.
    }
  }

  async #watch(handlers: WireHandlers): Promise<void> {
    for await (const status of this.connection.status()) {
      if (status.type === "staleConnection")
        this.lose(new BridgeError("CONNECTION_LOST", `${this.#label}: the server has been silent for too long`));
      else if (status.type === "error" && status.error instanceof Violation) handlers.denied(status.error);
    }
  }

  #onClosed(error: Error | undefined, handlers: WireHandlers): void {
    this.#gone = true;
    this.#sockets.destroy();
    const cause = this.#onPurpose ? undefined : (this.#cause ?? lossError(this.#label, error));
    handlers.gone(cause);
    this.#closed.resolve(cause);
  }
}
