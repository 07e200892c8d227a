import type { BridgeConfig } from "@bridge/config";
import type { LegStats, RouteStats } from "../view/stats.ts";
import { STAY_BOUNDS_MS } from "./duration-bounds.ts";
import { Histogram } from "./histogram.ts";
import { LegAccount } from "./leg-account.ts";

/** This many removed routes and legs are kept apart; the counts of older ones are added up, never lost. */
const MAX_REMOVED = 1_000;
/** Stands for the sum of the routes that were removed longest ago. */
const REMOVED = "";

/** Counters of one route that belong to no binding. */
export class RouteAccount {
  readonly routeId: string;
  inFlight = 0;
  dlqWriteFailures = 0;
  outboxWriteFailures = 0;
  settleFailures = 0;
  /** Deliveries that have ended for good, and how many of them ended without an error. */
  ended = 0;
  handedOn = 0;
  /** From taking a delivery until its settlement. */
  readonly hold = new Histogram(STAY_BOUNDS_MS);

  constructor(routeId: string) {
    this.routeId = routeId;
  }

  /** Whether none of it can change any more once its route is gone. */
  get atRest(): boolean {
    return this.inFlight === 0;
  }

  /** Adds another account's counts. */
  add(other: RouteAccount): void {
    this.dlqWriteFailures += other.dlqWriteFailures;
    this.outboxWriteFailures += other.outboxWriteFailures;
    this.settleFailures += other.settleFailures;
    this.hold.add(other.hold);
  }

  read(): RouteStats {
    const { routeId, inFlight, dlqWriteFailures, outboxWriteFailures, settleFailures, hold } = this;
    return {
      routeId,
      inFlight,
      dlqWriteFailures,
      outboxWriteFailures,
      settleFailures,
      // Read on access: see the readings of legs.
      get hold() {
        return hold.read();
      },
    };
  }
}

/**
 * The accounts of a bridge. They outlive its runtimes, so that counters never go back when one is replaced. There is
 * one per route and binding of every configuration that this process has run. Of removed ones only a bounded number is
 * kept apart; the rest are added up, so that sums over all routes never go back either.
 */
export class Accounts {
  readonly #legs = new Map<string, LegAccount>();
  readonly #routes = new Map<string, RouteAccount>();
  redrives = 0;
  redriveFailures = 0;

  /** `bindingId` is empty for legs that end before a binding is chosen. */
  leg(routeId: string, bindingId: string): LegAccount {
    return found(this.#legs, legKey(routeId, bindingId), () => new LegAccount(routeId, bindingId));
  }

  route(routeId: string): RouteAccount {
    return found(this.#routes, routeId, () => new RouteAccount(routeId));
  }

  /** The accounts of all legs. */
  get all(): Iterable<LegAccount> {
    return this.#legs.values();
  }

  /** Adds up accounts that `config` lacks, oldest first, once there are too many. */
  follow({ routes }: BridgeConfig): void {
    const bindings = new Map(routes.map((route) => [route.id, new Set(["", ...route.bindings])]));
    const legs = [...this.#legs.values()].filter(
      ({ routeId, bindingId }) => bindings.get(routeId)?.has(bindingId) !== true,
    );
    for (const leg of excess(legs)) {
      this.leg(REMOVED, "").add(leg);
      this.#legs.delete(legKey(leg.routeId, leg.bindingId));
    }
    for (const route of excess([...this.#routes.values()].filter(({ routeId }) => !bindings.has(routeId)))) {
      this.route(REMOVED).add(route);
      this.#routes.delete(route.routeId);
    }
  }

  /** What was in the outbox stays there and is no longer ours; when it is opened again, that counts as recovered. */
  outboxClosed(): void {
    for (const leg of this.#legs.values()) leg.outboxClosed();
  }

  legs(): readonly LegStats[] {
    return [...this.#legs.values()].map((leg) => leg.read());
  }

  routes(): readonly RouteStats[] {
    return [...this.#routes.values()].map((route) => route.read());
  }
}

interface Account {
  readonly routeId: string;
  readonly atRest: boolean;
}

/** The accounts to add up: the oldest, except those that can still change. */
function excess<One extends Account>(removed: readonly One[]): readonly One[] {
  const over = removed.slice(0, Math.max(0, removed.length - MAX_REMOVED));
  return over.filter(({ routeId, atRest }) => atRest && routeId !== REMOVED);
}

function legKey(routeId: string, bindingId: string): string {
  return JSON.stringify([routeId, bindingId]);
}

function found<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
