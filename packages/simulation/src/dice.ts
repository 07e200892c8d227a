import type { Random } from "@bridge/ports";

/** Randomness from a seed: the same seed gives the same numbers, on every machine. */
export class Dice implements Random {
  #state: number;
  #ids = 0;

  constructor(seed: number) {
    this.#state = seed >>> 0;
    // Neighbouring seeds have nothing in common after a few steps.
    for (let step = 0; step < 3; step++) this.next();
  }

  /** An independent generator for one part of the world, so that its draws change nothing for other parts. */
  fork(name: string): Dice {
    let hash = 0x811c9dc5 ^ this.#state;
    for (const letter of name) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
    return new Dice(hash);
  }

  /** mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  id(): string {
    return `${Math.floor(this.next() * 2 ** 32).toString(36)}-${(this.#ids++).toString(36)}`;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** A whole number from `least` to `most`. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** A whole number from `least`, which is above 0, to `most`: as often from 1 to 10 as from 10 to 100. */
  scaled(least: number, most: number): number {
    let bound = least;
    while (bound < most && this.chance(0.6)) bound = Math.min(most, bound * 3);
    return this.whole(least, bound);
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[this.whole(0, items.length - 1)] ?? items[0];
  }
}
