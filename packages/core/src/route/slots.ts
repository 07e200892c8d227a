/** Room in flight: at most `capacity` slots are taken at once, and waiters get them in the order in which they came. */
export class Slots {
  readonly #capacity: number;
  #taken = 0;
  /** Who waits is given each slot that is given back, so that while somebody waits all are taken. */
  readonly #waiters = new Set<() => void>();
  readonly #watchers = new Set<() => void>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get taken(): number {
    return this.#taken;
  }

  /** How many slots could be taken at once. */
  get free(): number {
    return this.#capacity - this.#taken;
  }

  /** Whether a slot could be taken at once. */
  get hasRoom(): boolean {
    return this.#taken < this.#capacity;
  }

  /** Takes a slot if that can be done at once. */
  tryTake(): boolean {
    if (!this.hasRoom) return false;
    this.#taken++;
    return true;
  }

  /** Waits for a slot and takes it; rejects with the signal's reason when that comes first. */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.tryTake()) await waitIn(this.#waiters, signal);
  }

  /** Waits until there is room, without taking it; rejects with the signal's reason when that comes first. */
  async room(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while (!this.hasRoom) await waitIn(this.#watchers, signal);
  }

  /** Resolves when no slot is taken. */
  async idle(): Promise<void> {
    const { signal: never } = new AbortController();
    while (this.#taken > 0) await waitIn(this.#watchers, never);
  }

  /** Gives a slot back, to the waiter that has waited longest. */
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

/** Waits to be called from `queue`; leaves it then, and when the signal aborts. */
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
