import type { LegStats, RouteStats } from "../view/stats.ts";
import { LegAccount } from "./leg-account.ts";

/** Counters of one route that belong to no binding. */
export class RouteAccount {
  readonly routeId: string;
  inFlight = 0;
  dlqWriteFailures = 0;
  settleFailures = 0;

  constructor(routeId: string) {
    this.routeId = routeId;
  }

  read(): RouteStats {
    return {
      routeId: this.routeId,
      inFlight: this.inFlight,
      dlqWriteFailures: this.dlqWriteFailures,
      settleFailures: this.settleFailures,
    };
  }
}

/**
 * The accounts of a bridge. They outlive its runtimes, so that counters never go back when one is replaced.
 * There is one per route and binding of the configurations that this process has run.
 */
export class Accounts {
  readonly #legs = new Map<string, LegAccount>();
  readonly #routes = new Map<string, RouteAccount>();
  redrives = 0;
  redriveFailures = 0;

  /** `bindingId` is empty for legs that end before a binding is chosen. */
  leg(routeId: string, bindingId: string): LegAccount {
    return found(this.#legs, JSON.stringify([routeId, bindingId]), () => new LegAccount(routeId, bindingId));
  }

  route(routeId: string): RouteAccount {
    return found(this.#routes, routeId, () => new RouteAccount(routeId));
  }

  legs(): readonly LegStats[] {
    return [...this.#legs.values()].map((leg) => leg.read());
  }

  routes(): readonly RouteStats[] {
    return [...this.#routes.values()].map((route) => route.read());
  }
}

function found<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
