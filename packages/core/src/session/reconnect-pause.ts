import type { BackoffPolicy } from "@bridge/config";
import { backoffDelay } from "../route/backoff.ts";

const RECONNECT: BackoffPolicy = { initialIntervalMs: 200, maxIntervalMs: 30_000, multiplier: 2, jitter: 0.3 };
/** A connection that lived this long was a good one: nothing of what was before it counts. */
const GOOD_CONNECTION_MS = 3_000;
/** The pause grows up to this many short connections in a row, to 1.6 s; */
const QUICK = 4;
/** and beyond this many again: that is no restart any more, but something that ends each connection. */
const RESTARTS = 10;

/**
 * How long to wait before the next attempt to connect.
 *
 * A peer that cannot be reached is asked ever less often. One that could be is asked soon: it was there a moment ago, and
 * a restart of it, or ten, must not be paid for as an outage is.
 */
export class ReconnectPause {
  /** Attempts in a row that made no connection. */
  #refused = 0;
  /** Connections in a row that were lost soon. */
  #short = 0;
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Attempts and connections in a row that came to nothing. */
  get failures(): number {
    return this.#refused + this.#short;
  }

  /** Milliseconds to wait after an attempt that made no connection. */
  afterRefusal(): number {
    this.#refused++;
    return this.#pause(this.#refused);
  }

  /** Milliseconds to wait after a connection, subscribed and all, that lived so long. */
  afterLoss(livedMs: number): number {
    this.#refused = 0;
    this.#short = livedMs >= GOOD_CONNECTION_MS ? 1 : this.#short + 1;
    return this.#pause(this.#short <= RESTARTS ? Math.min(this.#short, QUICK) : this.#short - RESTARTS + QUICK);
  }

  #pause(failures: number): number {
    return Math.round(backoffDelay(RECONNECT, failures, this.#random));
  }
}
