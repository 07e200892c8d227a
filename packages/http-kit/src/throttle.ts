import type { Clock } from "@bridge/ports";

export interface ThrottleOptions {
  /** Failures in a window that are still answered as such. Default 5. */
  readonly limit?: number | undefined;
  /** Default one minute. */
  readonly windowMs?: number | undefined;
}

const DEFAULTS = { limit: 5, windowMs: 60_000 };
/** Clients remembered; the one that failed longest ago is forgotten first. */
const MAX_CLIENTS = 10_000;

/** Counts the failed authentications of each client over the last window (contract §3). */
export class Throttle {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #windowMs: number;
  /** When each of the client's counted failures happened, oldest first; the client that failed last is at the end. */
  readonly #failures = new Map<string, number[]>();

  constructor(clock: Clock, options: ThrottleOptions = {}) {
    this.#clock = clock;
    this.#limit = options.limit ?? DEFAULTS.limit;
    this.#windowMs = options.windowMs ?? DEFAULTS.windowMs;
  }

  /** Notes a failure. Returns 0, or, for a client over the limit, after how many ms it is heard again. */
  fail(client: string): number {
    const now = this.#clock.monotonic();
    const recent = (this.#failures.get(client) ?? []).filter((at) => now - at < this.#windowMs);
    const [oldest] = recent;
    const throttled = oldest !== undefined && recent.length >= this.#limit;
    if (!throttled) recent.push(now);
    this.#failures.delete(client);
    this.#failures.set(client, recent);
    if (this.#failures.size > MAX_CLIENTS) this.#failures.delete(this.#failures.keys().next().value ?? "");
    return throttled ? oldest + this.#windowMs - now : 0;
  }

  /** A valid key was shown. */
  reset(client: string): void {
    this.#failures.delete(client);
  }
}
