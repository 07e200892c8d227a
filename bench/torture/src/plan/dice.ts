import { createHash } from "node:crypto";

const DRAW_BYTES = 6;

/** Random numbers that the same seed gives again. */
export class Dice {
  readonly #seed: string;
  #draws = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** Dice of their own for one purpose, so that how often the others are thrown does not matter to them. */
  fork(purpose: string): Dice {
    return new Dice(`${this.#seed}/${purpose}`);
  }

  /** From 0, below 1. */
  next(): number {
    const digest = createHash("sha256")
      .update(`${this.#seed}#${this.#draws++}`)
      .digest();
    return digest.readUIntBE(0, DRAW_BYTES) / 2 ** (8 * DRAW_BYTES);
  }

  between([min, max]: readonly [min: number, max: number]): number {
    return min + this.next() * (max - min);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<Value>(values: readonly [Value, ...Value[]]): Value {
    return values[Math.floor(this.next() * values.length)] ?? values[0];
  }
}
