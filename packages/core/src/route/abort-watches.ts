/** How many signals are watched beyond those in use before the unused ones are dropped. */
const SPARE = 1_000;

/**
 * Watches each signal of a route's sources with one listener, because many deliveries share a signal: adding and
 * removing a listener per delivery would cost more than everything else. The listeners are removed when the route ends,
 * because a connection outlives the routes that a reload replaces.
 */
export class AbortWatches implements Disposable {
  readonly #onAbort: (signal: AbortSignal) => void;
  readonly #inUse: () => ReadonlySet<AbortSignal | undefined>;
  readonly #watched = new Map<AbortSignal, () => void>();
  #most = SPARE;

  /** `inUse`: the signals whose abort still matters. */
  constructor(onAbort: (signal: AbortSignal) => void, inUse: () => ReadonlySet<AbortSignal | undefined>) {
    this.#onAbort = onAbort;
    this.#inUse = inUse;
  }

  watch(signal: AbortSignal): void {
    if (this.#watched.has(signal)) return;
    if (this.#watched.size >= this.#most) this.#forgetUnused();
    const listener = (): void => {
      this.#watched.delete(signal);
      this.#onAbort(signal);
    };
    this.#watched.set(signal, listener);
    signal.addEventListener("abort", listener, { once: true });
  }

  [Symbol.dispose](): void {
    for (const watched of this.#watched) this.#forget(watched);
  }

  #forgetUnused(): void {
    const inUse = this.#inUse();
    for (const watched of this.#watched) if (!inUse.has(watched[0])) this.#forget(watched);
    this.#most = this.#watched.size + SPARE;
  }

  #forget([signal, listener]: readonly [AbortSignal, () => void]): void {
    signal.removeEventListener("abort", listener);
    this.#watched.delete(signal);
  }
}
