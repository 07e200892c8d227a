import type { SessionMode, SourceMessage, Topic, TransportPlugin } from "@bridge/ports";
import type { Excuses } from "../case.ts";
import type { TransportCaseName } from "./transport-cases.ts";

/** A transport that the suite is to try. The suite asks of it what its plugin has: a source, a target, a session. */
export interface TransportSubject {
  readonly plugin: TransportPlugin;
  /** What the transport need not do, and why. */
  readonly except?: Excuses<TransportCaseName>;
  /** Makes a place of its own for one case: names, topics and ports that nobody else uses. */
  open(signal: AbortSignal): Promise<TransportPlace>;
}

/** Where one case takes place. Disposed after the parts that the case has built are disposed. */
export interface TransportPlace extends AsyncDisposable {
  /** The id that the configuration would give to the parts. Default: a random one. */
  readonly id?: string;
  /** Needed when the plugin has a receiver. */
  readonly source?: SourcePlace;
  /** Needed when the plugin has a sender. */
  readonly target?: TargetPlace;
  /** Bytes of the large payload that must pass. Default 1 MiB. */
  readonly largestPayload?: number;
}

/** A part as the configuration document would ask for it: its options are parsed by the plugin's own schema. */
export interface PartPlace {
  readonly options: unknown;
}

export interface SessionPlace extends PartPlace {
  /** Default `persistent`. */
  readonly mode?: SessionMode;
}

export interface SourcePlace {
  /** Needed when the plugin has a session. */
  readonly session?: SessionPlace;
  readonly receiver: PartPlace & { readonly topics?: readonly Topic[] };
  /** A subject with which a published message reaches the receiver. Default `conformance`. */
  readonly subject?: string;
  /**
   * Gives the source a message, as another program would. The suite calls it when a receiver is there (its session
   * connected and subscribed, its iteration begun).
   *
   * Resolves when the source has the message; where the source is a caller that repeats until it is answered, as soon
   * as it has begun to. Default: through the plugin's own sender, to the address of {@link TransportPlace.target}.
   */
  publish?(message: SourceMessage, signal: AbortSignal): Promise<void>;
  /** The way between the bridge and the source. */
  readonly link?: FaultyLink;
}

export interface TargetPlace {
  /** Needed when the plugin has a session. */
  readonly session?: SessionPlace;
  readonly sender: PartPlace;
  /** The binding's address. */
  readonly address: string;
  /** The subject of the envelopes that are sent. Default `conformance`. */
  readonly subject?: string;
  /**
   * All messages that have arrived at the target since the place was opened, once they are `count` or more.
   * Default: what the plugin's own receiver takes out of {@link TransportPlace.source}.
   */
  collect?(count: number, signal: AbortSignal): Promise<readonly SourceMessage[]>;
  /** The way between the bridge and the target. */
  readonly link?: FaultyLink;
}

/** A connection that can be broken. A `TcpProxy` is one. */
export interface FaultyLink {
  /** Breaks what is open; new connections are possible at once. */
  cut(): void;
  /** Refuses new connections until it is restored. */
  refuse(): void;
  /** Lets nothing through until it is restored, and keeps connections open; new ones stay silent. */
  freeze(): void;
  /** Ends {@link refuse} and {@link freeze}. */
  restore(): Promise<void> | void;
}
