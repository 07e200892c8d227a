import type { InFlightPlace } from "../route/in-flight.ts";
import type { RecentLeg } from "./recent-legs.ts";
import type { RedrivenAs } from "./recent-redrives.ts";

/** Where a message is in one process, or was not long ago. */
export interface Whereabouts {
  /** Not settled yet; one for each binding that it is on its way to. */
  readonly inFlight: readonly InFlightPlace[];
  /** Legs of it that have ended, newest first; by a hash of the id, so that one may be of another message. */
  readonly ended: readonly RecentLeg[];
  /** Oldest first. */
  readonly redrivenAs: readonly RedrivenAs[];
  /** How many ends of legs are remembered, and since when whatever has ended is there; epoch milliseconds. */
  readonly remembers: { readonly legs: number; readonly since: number };
}
