import type { Clock } from "@bridge/ports";
import { type Disposition, DISPOSITIONS } from "../view/stats.ts";
import { hashId, type IdHash } from "./id-hash.ts";

/** Routes and bindings that are told apart, of all configurations that a process has run; what is beyond has no name. */
const MAX_PLACES = 65_536;

/** How a leg has ended not long ago. */
export interface RecentLeg {
  readonly routeId: string;
  /** Empty when it ended before a binding was chosen. */
  readonly bindingId: string;
  readonly outcome: Disposition;
  /** Epoch milliseconds. */
  readonly at: number;
}

const CODES = Object.fromEntries(DISPOSITIONS.map((disposition, code) => [disposition, code])) as Record<
  Disposition,
  number
>;

/**
 * How the last so many legs of this process have ended, by a hash of their envelope ids: plain numbers in a ring, 21 bytes a leg,
 * because every leg writes to it. Two ids have one hash once in 10^14, so what is found may be another message.
 */
export class RecentLegs {
  readonly #clock: Clock;
  readonly #places = [{ routeId: "", bindingId: "" }];
  readonly #numbers = new Map<string, number>();
  readonly #hash: IdHash = { high: 0, low: 0 };
  #size = 0;
  #high = new Uint32Array(0);
  #low = new Uint32Array(0);
  #place = new Uint32Array(0);
  #code = new Uint8Array(0);
  /** Monotonic milliseconds. */
  #at = new Float64Array(0);
  #next = 0;
  #length = 0;
  #since: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  /** How many it keeps; 0 switches it off. What it has is forgotten when that changes. */
  set size(size: number) {
    if (size === this.#size) return;
    this.#size = size;
    this.#high = new Uint32Array(size);
    this.#low = new Uint32Array(size);
    this.#place = new Uint32Array(size);
    this.#code = new Uint8Array(size);
    this.#at = new Float64Array(size);
    this.#forget();
  }

  get size(): number {
    return this.#size;
  }

  /** Epoch milliseconds: whatever has ended since is here. */
  get since(): number {
    const oldest = this.#length < this.#size ? this.#since : (this.#at[this.#next] ?? this.#since);
    return this.#epochOf(oldest);
  }

  /** The number by which legs of a route and binding are entered. */
  placeOf(routeId: string, bindingId: string): number {
    const key = JSON.stringify([routeId, bindingId]);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    if (this.#places.length >= MAX_PLACES) return 0;
    const number = this.#places.push({ routeId, bindingId }) - 1;
    this.#numbers.set(key, number);
    return number;
  }

  /** A leg has ended, at `now` in monotonic milliseconds. */
  add(place: number, envelopeId: string, disposition: Disposition, now: number): void {
    if (this.#size === 0) return;
    const next = this.#next;
    const hash = this.#hash;
    hashId(envelopeId, hash);
    this.#high[next] = hash.high;
    this.#low[next] = hash.low;
    this.#place[next] = place;
    this.#code[next] = CODES[disposition];
    this.#at[next] = now;
    this.#next = next + 1 === this.#size ? 0 : next + 1;
    if (this.#length < this.#size) this.#length++;
  }

  /** Newest first, at most `limit`. */
  find(envelopeId: string, limit: number): readonly RecentLeg[] {
    const wanted = { high: 0, low: 0 };
    hashId(envelopeId, wanted);
    const found: RecentLeg[] = [];
    for (let back = 1; back <= this.#length && found.length < limit; back++) {
      const at = (this.#next - back + this.#size) % this.#size;
      if (this.#low[at] !== wanted.low || this.#high[at] !== wanted.high) continue;
      const place = this.#places[this.#place[at] ?? -1];
      const outcome = DISPOSITIONS[this.#code[at] ?? -1];
      if (place !== undefined && outcome !== undefined)
        found.push({ ...place, outcome, at: this.#epochOf(this.#at[at] ?? 0) });
    }
    return found;
  }

  #epochOf(monotonic: number): number {
    return Math.round(this.#clock.now() - (this.#clock.monotonic() - monotonic));
  }

  #forget(): void {
    this.#next = 0;
    this.#length = 0;
    this.#since = this.#clock.monotonic();
  }
}
