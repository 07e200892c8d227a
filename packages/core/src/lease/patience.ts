import type { Lease } from "./lease.ts";

/** How many ttls a holder waits for its session to connect. */
const TTLS = 3;
/** The wait doubles after each failed holding, up to this factor. */
const MOST_TIMES = 4;
/**
 * For how many looks an instance that has yielded leaves a free lease to others: `now` if it was the last to yield,
 * else `before`.
 */
const LEFT_FOR_LOOKS = { before: 2, now: 4 } as const;

/**
 * Limits how long the holder of a lease keeps it while its session is not connected: another instance may reach the
 * broker when this one does not. The limit doubles with each failed holding until the session connects: if nobody
 * reaches the broker, passing the lease round gains nothing.
 */
export class Patience {
  readonly #lease: Lease;
  /** The number of connections at the last look. */
  #connects = 0;
  /** Since when it has not been connected, as far as looks can tell; monotonic milliseconds. */
  #since = 0;
  #inVain = 0;
  #yielded: number | undefined;

  constructor(lease: Lease) {
    this.#lease = lease;
  }

  /**
   * For how many looks to leave a free lease to others, when it was last held under `token`. First come the instances
   * that have not yielded since they were last connected, then those that have, and last the one that yielded most
   * recently.
   */
  looksLeftTo(token: number): number {
    if (this.#inVain === 0) return 0;
    return token === this.#yielded ? LEFT_FOR_LOOKS.now : LEFT_FOR_LOOKS.before;
  }

  /** The lease was taken; `now` is monotonic. */
  begin(now: number): void {
    this.#connects = this.#lease.connects;
    this.#since = now;
  }

  /**
   * How long the session has been disconnected, in milliseconds, if that is too long; otherwise `undefined`. Call it
   * regularly while the lease is held.
   */
  spent(now: number, ttlMs: number): number | undefined {
    const { connections, connects } = this.#lease;
    if (connections > 0 || connects !== this.#connects) {
      this.begin(now);
      this.#inVain = 0;
    }
    const goneMs = now - this.#since;
    return goneMs >= ttlMs * TTLS * Math.min(MOST_TIMES, 2 ** this.#inVain) ? goneMs : undefined;
  }

  yielded(token: number): void {
    this.#inVain++;
    this.#yielded = token;
  }
}
