/** Limits the work in flight: at most `capacity` slots are taken at once, and waiters are served in order of arrival. */
export class Slots {
  readonly #capacity: number;
  #taken = 0;
  /** A released slot goes straight to the first waiter, so while any waits, all slots are taken. */
  readonly #waiters = new Set<() => void>();
  readonly #watchers = new Set<() => void>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get taken(): number {
    return this.#taken;
  }

  /** How many slots are free. */
  get free(): number {
    return this.#capacity - this.#taken;
  }

  /** Whether a slot is free. */
  get hasRoom(): boolean {
    return this.#taken < this.#capacity;
  }

  /** Takes a slot if one is free. */
  tryTake(): boolean {
    if (!this.hasRoom) return false;
    this.#taken++;
    return true;
  }

  /** Waits for a slot and takes it; rejects with the signal's reason if `signal` aborts first. */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.tryTake()) await waitIn(this.#waiters, signal);
  }

  /** Waits for a free slot without taking it; rejects with the signal's reason if `signal` aborts first. */
  async room(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while (!this.hasRoom) await waitIn(this.#watchers, signal);
  }

  /** Resolves when no slot is taken. */
  async idle(): Promise<void> {
    const { signal: never } = new AbortController();
    while (this.#taken > 0) await waitIn(this.#watchers, never);
  }

  /** Releases a slot, to the longest waiter if any. */
  release(): void {
    const [next] = this.#waiters;
    if (next !== undefined) {
      next();
      return;
    }
    this.#taken--;
    for (const watcher of this.#watchers) watcher();
  }
}

/** Waits in `queue` to be called; leaves it then, or when the signal aborts. */
function waitIn(queue: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onFree = (): void => {
      queue.delete(onFree);
      signal.removeEventListener("abort", onAbort);
      resolve();
    };
    const onAbort = (): void => {
      queue.delete(onFree);
      reject(signal.reason as Error);
    };
    queue.add(onFree);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
