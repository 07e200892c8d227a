/** Redrives that are remembered. */
const KEPT = 10_000;

/** Under which ids dead letters have gone out again, the last so many of this process: by the id of the envelope that failed. */
export class RecentRedrives {
  readonly #byOriginal = new Map<string, readonly string[]>();

  /** The message `original` goes out again as `again`. */
  add(original: string, again: string): void {
    const before = this.#byOriginal.get(original) ?? [];
    // Behind the others, so that the oldest is let go of first.
    this.#byOriginal.delete(original);
    this.#byOriginal.set(original, [...before.slice(-9), again]);
    if (this.#byOriginal.size <= KEPT) return;
    const [oldest] = this.#byOriginal.keys();
    if (oldest !== undefined) this.#byOriginal.delete(oldest);
  }

  /** Oldest first, the last ten. */
  of(original: string): readonly string[] {
    return this.#byOriginal.get(original) ?? [];
  }
}
