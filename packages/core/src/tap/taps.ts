import type { BridgeConfig } from "@bridge/config";
import type { Clock } from "@bridge/ports";
import { TapShare } from "./tap-share.ts";
import { type SettledMessage, Tap, type TapOptions } from "./tap.ts";

/** Those who look at one route. */
export class RouteTaps {
  /** Whether anybody does: all that a route asks for each message. */
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

  /** A message was settled, at `now` in monotonic milliseconds. */
  settled(message: SettledMessage, now: number): void {
    for (const tap of this.#taps) tap.settled(message, now);
  }

  /** The route is configured no more. */
  end(): void {
    for (const tap of this.#taps) tap[Symbol.dispose]();
  }
}

/** Who looks at which route; lives as long as the process, so that a tail goes on over restarts and changes of its route. */
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

  /** Ends those of routes that `config` has not. */
  follow({ routes }: BridgeConfig): void {
    const ids = new Set(routes.map(({ id }) => id));
    for (const [id, taps] of this.#routes) {
      if (ids.has(id)) continue;
      taps.end();
      this.#routes.delete(id);
    }
  }
}
