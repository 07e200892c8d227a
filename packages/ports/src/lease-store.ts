import type { TellsHealth } from "./store-health.ts";

/**
 * A lease as it stands in its store. The store knows nothing of time: takers watch `beat`, and a lease is free for them
 * once it has not moved for `ttlMs` of their own clocks, whatever the holder's clock says.
 */
export interface LeaseRecord {
  /** The process that holds the lease: instance id and a nonce of the process. Empty: released. */
  readonly holder: string;
  /** Grows with every acquisition: fences what a former holder says. */
  readonly token: number;
  /** Changes with every renewal. */
  readonly beat: number;
  /** How long the holder may be silent, in milliseconds: the holder's own setting. */
  readonly ttlMs: number;
}

/**
 * Keeps leases, one record a key, for all instances alike. Every race is decided here: of two replacements of one
 * record, one is made. When to take, renew and give up a lease is the engine's business.
 *
 * Methods reject with a {@link BridgeError} when the store cannot be asked, and with the signal's reason when it aborts;
 * whether a rejected replacement was made is then unknown.
 */
export interface LeaseStore extends AsyncDisposable, TellsHealth {
  /** The record as of its last replacement, never an older one; `undefined` when there never was one. */
  read(key: string, signal: AbortSignal): Promise<LeaseRecord | undefined>;
  /**
   * Writes `next`, durably as far as the store's reach goes, if what is stored is still `expected`: the same token and
   * beat, or nothing when it is `undefined`. False, with nothing written, when it is not.
   */
  replace(key: string, expected: LeaseRecord | undefined, next: LeaseRecord, signal: AbortSignal): Promise<boolean>;
}
