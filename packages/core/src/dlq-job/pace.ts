const WINDOW_MS = 30_000;

/** How fast entries end, over the last 30 seconds. */
export class Pace {
  readonly #samples: { readonly at: number; readonly done: number }[] = [];

  /** So many had ended by then, by a clock in milliseconds. Returns entries a second. */
  at(at: number, done: number): number {
    this.#samples.push({ at, done });
    while (this.#samples.length > 2 && (this.#samples[1]?.at ?? at) <= at - WINDOW_MS) this.#samples.shift();
    const first = this.#samples[0] ?? { at, done };
    return at <= first.at ? 0 : (Math.max(0, done - first.done) * 1_000) / (at - first.at);
  }
}
