import type { TransportPlugin } from "@bridge/ports";
import type { Excuses } from "../case.ts";
import type { SourcePlace } from "../transport/transport-subject.ts";
import type { HostileCaseName } from "./hostile-cases.ts";

/** A transport whose source the suite is to hurt, at the level of its wire. */
export interface HostileSubject {
  readonly plugin: TransportPlugin;
  /** What need not hold, and why. */
  readonly except?: Excuses<HostileCaseName>;
  /** A real server, to which anybody may write. */
  openServer?(signal: AbortSignal): Promise<ServerPlace>;
  /** A server of the suite's, which says what no server would. */
  openStandIn?(signal: AbortSignal): Promise<StandInPlace>;
}

/** Disposed after the parts that the case has built. */
export interface ServerPlace extends AsyncDisposable {
  readonly source: SourcePlace;
  /**
   * Messages that no library would write: names and values of every byte, what is twice, empty or cut off, sizes at each limit.
   * One that the server refuses is none.
   */
  readonly messages: readonly Uint8Array[];
  /** Writes some of them as they are; resolves when the server has read them. */
  write(messages: readonly Uint8Array[], signal: AbortSignal): Promise<void>;
}

/** Disposed after the parts that the case has built. */
export interface StandInPlace extends AsyncDisposable {
  readonly source: SourcePlace;
  /** How far a client gets before the server may go wrong, from the moment that it has connected. */
  readonly states: readonly string[];
  /** What the server says in the protocol, by name, whole and right. The suite cuts it off and bends it. */
  readonly frames: Readonly<Record<string, Uint8Array>>;
  /** What announces more than the session takes in, and what the protocol does not have. */
  readonly outrages: readonly Uint8Array[];
  /**
   * Lets the next client that gets to `state` hear `bytes` there, and ends its connection. Resolves when that is over. Until it
   * is called again the server behaves.
   */
  say(state: string, bytes: Uint8Array, signal: AbortSignal): Promise<void>;
  /** Hands messages with these payloads out to the client that is connected, or the next one. */
  hand(payloads: readonly string[]): void;
}
