import type { BridgeConfig } from "@bridge/config";
import type { Clock } from "@bridge/ports";
import { routeNotFound } from "../route-not-found.ts";
import { PauseSwitch } from "./pause-switch.ts";
import { RateLimiter } from "./rate-limiter.ts";

/** What can be changed of a route while it runs. */
export interface RouteControl {
  readonly pause: PauseSwitch;
  /** For what its receiver brings in. */
  readonly rate: RateLimiter;
}

/**
 * What operators and reloads change without replacing what runs: pauses and rate limits, by route and by sender. Lives
 * as long as the process; the parts of a runtime borrow from it.
 */
export class Controls {
  readonly #clock: Clock;
  readonly #routes = new Map<string, RouteControl>();
  readonly #senders = new Map<string, RateLimiter>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Brings the limits of `config` into force, and forgets what it does not configure any more. */
  follow(config: BridgeConfig): void {
    forget(this.#routes, config.routes);
    forget(this.#senders, config.senders);
    this.limit(config);
  }

  /** Brings the limits of `config` into force. */
  limit(config: BridgeConfig): void {
    for (const { id, rateLimit } of config.routes) this.route(id).rate.limit = rateLimit;
    for (const { id, rateLimit } of config.senders) this.sender(id).limit = rateLimit;
  }

  route(id: string): RouteControl {
    let control = this.#routes.get(id);
    if (control === undefined) {
      control = { pause: new PauseSwitch(), rate: new RateLimiter(this.#clock) };
      this.#routes.set(id, control);
    }
    return control;
  }

  sender(id: string): RateLimiter {
    let limiter = this.#senders.get(id);
    if (limiter === undefined) {
      limiter = new RateLimiter(this.#clock);
      this.#senders.set(id, limiter);
    }
    return limiter;
  }

  /** @throws OperationError `not_found` for a route that is not configured */
  switchOf(routeId: string): PauseSwitch {
    const control = this.#routes.get(routeId);
    if (control === undefined) throw routeNotFound(routeId, this.#routes.keys());
    return control.pause;
  }

  paused(routeId: string): boolean {
    return this.#routes.get(routeId)?.pause.paused === true;
  }
}

function forget(known: Map<string, unknown>, configured: readonly { readonly id: string }[]): void {
  const ids = new Set(configured.map(({ id }) => id));
  for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
}
