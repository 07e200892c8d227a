import type { Clock } from "@bridge/ports";

export interface ThrottleOptions {
  /** Failures in a window that are still answered as such. Default 5. */
  readonly limit?: number | undefined;
  /** Default one minute. */
  readonly windowMs?: number | undefined;
}

const DEFAULTS = { limit: 5, windowMs: 60_000 };
/** Of clients. Two generations are remembered; those that have not failed again by the end of the next one are forgotten. */
const GENERATION_SIZE = 5_000;

/** Counts the failed authentications of each client over the last window (contract §3). */
export class Throttle {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #windowMs: number;
  /** When each of a client's counted failures happened, oldest first. */
  #recent = new Map<string, number[]>();
  #older = new Map<string, number[]>();

  /** @throws RangeError when a bound is none, which would let everybody guess */
  constructor(clock: Clock, options: ThrottleOptions = {}) {
    this.#clock = clock;
    this.#limit = bound("limit", options.limit ?? DEFAULTS.limit);
    this.#windowMs = bound("windowMs", options.windowMs ?? DEFAULTS.windowMs);
  }

  /** How many are remembered. */
  get clients(): number {
    return this.#recent.size + this.#older.size;
  }

  /** Notes a failure. Returns 0, or, for a client over the limit, after how many ms it is heard again. */
  fail(client: string): number {
    const now = this.#clock.monotonic();
    const recent = (this.#recent.get(client) ?? this.#older.get(client) ?? []).filter(
      (at) => now - at < this.#windowMs,
    );
    const [oldest] = recent;
    const throttled = oldest !== undefined && recent.length >= this.#limit;
    if (!throttled) recent.push(now);
    this.#remember(client, recent);
    return throttled ? oldest + this.#windowMs - now : 0;
  }

  /** A valid key was shown. */
  reset(client: string): void {
    this.#recent.delete(client);
    this.#older.delete(client);
  }

  #remember(client: string, failures: number[]): void {
    this.#older.delete(client);
    if (this.#recent.size >= GENERATION_SIZE && !this.#recent.has(client)) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(client, failures);
  }
}

function bound(name: string, value: number): number {
  if (Number.isFinite(value) && value > 0) return value;
  throw new RangeError(`throttle.${name} is ${String(value)}: give it a number above 0`);
}
