import type { BridgeConfig } from "@bridge/config";
import type { Clock } from "@bridge/ports";
import { TapShare } from "./tap-share.ts";
import { type SettledMessage, Tap, type TapOptions } from "./tap.ts";

/** The taps on one route. */
export class RouteTaps {
  /** Whether there are any: the only check per message. */
  watched = false;
  readonly #clock: Clock;
  readonly #share: TapShare;
  readonly #taps = new Set<Tap>();

  constructor(clock: Clock, share: TapShare) {
    this.#clock = clock;
    this.#share = share;
  }

  open(options: TapOptions): Tap {
    const tap = new Tap(options, this.#clock, this.#share, () => {
      this.#taps.delete(tap);
      this.watched = this.#taps.size > 0;
    });
    this.#taps.add(tap);
    this.watched = true;
    return tap;
  }

  /** A message was settled; `now` in monotonic milliseconds. */
  settled(message: SettledMessage, now: number): void {
    for (const tap of this.#taps) tap.settled(message, now);
  }

  /** The route is no longer configured. */
  end(): void {
    for (const tap of this.#taps) tap[Symbol.dispose]();
  }
}

/** The taps of each route. Lives as long as the process, so that a tail survives restarts and changes of its route. */
export class Taps {
  readonly #clock: Clock;
  readonly #routes = new Map<string, RouteTaps>();
  readonly #share = new TapShare();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of(routeId: string): RouteTaps {
    let taps = this.#routes.get(routeId);
    if (taps === undefined) this.#routes.set(routeId, (taps = new RouteTaps(this.#clock, this.#share)));
    return taps;
  }

  /** Ends the taps of routes that `config` lacks. */
  follow({ routes }: BridgeConfig): void {
    const ids = new Set(routes.map(({ id }) => id));
    for (const [id, taps] of this.#routes) {
      if (ids.has(id)) continue;
      taps.end();
      this.#routes.delete(id);
    }
  }
}
