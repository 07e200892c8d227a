import type { Delivery } from "./delivery.ts";
import type { Envelope } from "./envelope.ts";
import type { BridgeError } from "./errors.ts";

/** Where messages come from. Building one opens nothing. */
export interface Receiver extends AsyncDisposable {
  /**
   * Called before {@link Receiver.receive} when the receiver has something of its own to open, such as a listener.
   * Rejects when that is not possible; the start of the bridge then fails with this error.
   */
  open?(signal: AbortSignal): Promise<void>;
  /**
   * Yields deliveries on demand and ends, without throwing, once `signal` aborts. May be called again after that.
   *
   * The engine keeps at most one iteration open and asks for a delivery only when it has room for it: being pulled
   * is the back-pressure. A push source is bounded by its protocol's window and by a buffer of its own.
   * Of a session it survives reconnects: it just yields nothing meanwhile. Throws a {@link BridgeError} when a source
   * without a session is lost; the engine then calls it again, with backoff, and takes it for lost until there is a delivery.
   * A source that knows without one that it is there again, such as a queue that has answered that it is empty, calls `present`.
   */
  receive(signal: AbortSignal, present?: () => void): AsyncIterable<Delivery>;
  /** Plain numbers for the metrics, by name; read at each scrape. When it throws, the part has none. */
  counters?(): Readonly<Record<string, number>>;
}

/** Where messages go. Building one opens nothing. */
export interface Sender extends AsyncDisposable {
  /**
   * Resolves once the target has accepted the message; rejects with a {@link BridgeError} when it has not.
   *
   * Calls may overlap. `address` is the binding's, with its placeholders already filled in; empty when the binding
   * has none. When `signal` aborts, the sender gives up and frees what it holds for the call; the engine does not
   * wait for it. The signal may serve later calls too, so a listener on it is removed when the call ends, or is one for all of
   * them ({@link watchAbort}).
   *
   * `attempt` says which attempt of the message this is, counted as the cap counts: 1 for the first.
   */
  send(envelope: Envelope, address: string, signal: AbortSignal, attempt?: number): Promise<void>;
  /** How a binding's `{header}` placeholders are written into its address. Default: as they are. */
  readonly addressing?: Addressing;
  counters?(): Readonly<Record<string, number>>;
}

/** How a sender's addresses are filled in from headers. */
export interface Addressing {
  /**
   * What parts an address into levels, such as the `/` of MQTT's topics. The engine refuses a value that holds it, unless
   * its placeholder may span levels (`{name...}`, `{$subject}`). Absent: an address has none, or `fill` sees to it.
   */
  readonly separator?: string;
  /**
   * Writes `value` in place of a placeholder. `before` is the template's text up to it.
   * Throws a {@link BridgeError} `BINDING_UNRESOLVED` when the value may not stand there.
   */
  fill(value: string, before: string): string;
}

/** Which half of a configured session a link serves; the two halves use connections of their own. */
export type SessionRole = "source" | "target";

/** How to make one connection of a session. When to make it is the engine's business. */
export interface Session extends AsyncDisposable {
  /** The names of the subscriptions that the receivers built on this session want; empty on a target link. */
  readonly subscriptions: ReadonlySet<string>;
  /**
   * One attempt. Resolves when connected; the engine repeats it, with backoff, after each failure and loss.
   * `signal` bounds the attempt, not the life of the connection. At most one connection is open at a time.
   */
  connect(signal: AbortSignal): Promise<Connection>;
  counters?(): Readonly<Record<string, number>>;
}

/** A live connection of a session. Disposing closes it, within a bound of its own; disposing a lost one does nothing. */
export interface Connection extends AsyncDisposable {
  /** Settles once, when the connection is gone: with the cause, or `undefined` if it was closed. Never rejects. */
  readonly closed: Promise<BridgeError | undefined>;
  /**
   * Makes the broker's subscriptions equal {@link Session.subscriptions} and returns the names of those that it
   * acknowledged. Idempotent. On a target link it returns an empty set.
   */
  reconcile(signal: AbortSignal): Promise<ReadonlySet<string>>;
}
