/** Signals that nobody uses any more are looked for when there are so many more than in use. */
const SPARE = 1_000;

/**
 * One listener on each signal of a route's sources, which many of its deliveries share: to add and remove one for each
 * would cost more than all else. They are taken off when the route ends, because a connection outlives the routes that a
 * reload replaces.
 */
export class AbortWatches implements Disposable {
  readonly #onAbort: (signal: AbortSignal) => void;
  readonly #inUse: () => ReadonlySet<AbortSignal | undefined>;
  readonly #watched = new Map<AbortSignal, () => void>();
  #most = SPARE;

  /** `inUse`: those whose abortion matters to something right now. */
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
