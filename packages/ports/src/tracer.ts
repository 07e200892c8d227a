import type { Envelope } from "./envelope.ts";
import type { BridgeError } from "./errors.ts";
import type { TraceContext } from "./trace-context.ts";

/**
 * Makes spans of what the engine does with messages: one for each delivery, from the moment it is taken until it is
 * settled, and below it one for each try to send it to a binding. Nothing of a tracer may throw or wait: it is called on
 * the way of every message.
 */
export interface Tracer {
  /** Called once for each route that is built. */
  route(route: TracedRoute): RouteTracer;
}

/** A route, by the ids of the configuration. */
export interface TracedRoute {
  readonly routeId: string;
  readonly receiverId: string;
  /** The session that its deliveries come over. */
  readonly sessionId: string | undefined;
  /** {@link TransportPlugin.messagingSystem} of the source. */
  readonly system: string;
}

/** A binding of a route. */
export interface TracedBinding {
  readonly bindingId: string;
  readonly senderId: string;
  readonly sessionId: string | undefined;
  readonly system: string;
  /** The binding's address as it is configured, with its placeholders. */
  readonly address: string;
}

export interface RouteTracer {
  /**
   * A delivery is begun. A redrive belongs to no trace but its own; what it repeats is the trace context in its headers.
   * Otherwise these name the span below which this one is.
   */
  deliver(start: DeliveryStart): Span;
  /** Called once for each binding of the route. */
  binding(binding: TracedBinding): BindingTracer;
}

export interface DeliveryStart {
  readonly envelope: Envelope;
  readonly origin: "received" | "injected" | "redriven";
  /** How often the source has handed it out, if it counts. */
  readonly receiveCount: number | undefined;
}

export interface BindingTracer {
  /** A message is about to be sent; `undefined` when nobody is to see that. */
  send(start: SendStart): Span | undefined;
}

export interface SendStart {
  readonly envelope: Envelope;
  /** The delivery; absent when nothing is known of it. */
  readonly parent: TraceContext | undefined;
  /** Which attempt of the message this is, counted as the cap counts: 1 for the first. */
  readonly attempt: number;
}

/** Something that is being done for a message. */
export interface Span {
  readonly context: TraceContext;
  /**
   * Whether messages carry {@link Span.context} from here on. False when it is the one that came with the message and
   * nothing is recorded: its headers are then left as they are.
   */
  readonly carried: boolean;
  /** Whether anybody is to see it, and what is done below it. */
  readonly recorded: boolean;
  /** Called exactly once. `outcome` is a word of the bridge's, such as a disposition. */
  end(outcome: string, error?: BridgeError): void;
}
