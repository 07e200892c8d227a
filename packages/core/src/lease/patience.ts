import type { Lease } from "./lease.ts";

/** So many ttls a holder waits for its session to be connected, */
const TTLS = 3;
/** and twice as many after each time in vain, up to so many times that. */
const MOST_TIMES = 4;
/** So many looks a free lease is left to others by one that has yielded, and by the one that has yielded it just now. */
const LEFT_FOR_LOOKS = { before: 2, now: 4 } as const;

/**
 * How long the holder of a lease keeps it from others although its session is not connected: they may reach the broker
 * when it does not. Twice as long each time until it was connected, because when nobody reaches the broker nothing is won
 * by passing the lease round.
 */
export class Patience {
  readonly #lease: Lease;
  /** Connections that there had been at the last look. */
  #connects = 0;
  /** Monotonic milliseconds: not connected since then, as far as looks can tell. */
  #since = 0;
  #inVain = 0;
  #yielded: number | undefined;

  constructor(lease: Lease) {
    this.#lease = lease;
  }

  /**
   * For how many looks a lease that is free, last held under `token`, is left to others: first come those that have not
   * tried in vain since they were connected, then those that have, and whoever did so last comes last.
   */
  looksLeftTo(token: number): number {
    if (this.#inVain === 0) return 0;
    return token === this.#yielded ? LEFT_FOR_LOOKS.now : LEFT_FOR_LOOKS.before;
  }

  /** The lease has been taken; `now` is monotonic. */
  begin(now: number): void {
    this.#connects = this.#lease.connects;
    this.#since = now;
  }

  /** How long the session has not been connected if that is too long; asked again and again while the lease is held. */
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
