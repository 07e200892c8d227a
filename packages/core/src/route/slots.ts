/** Room in flight: at most `capacity` slots are taken at once, and waiters get them in the order in which they came. */
export class Slots {
  readonly #capacity: number;
  #taken = 0;
  readonly #waiters = new Set<() => void>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Takes a slot if that can be done at once. */
  tryTake(): boolean {
    if (this.#taken >= this.#capacity || this.#waiters.size > 0) return false;
    this.#taken++;
    return true;
  }

  /** Waits for a slot and takes it; rejects with the signal's reason when that comes first. */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.tryTake()) return;
    await new Promise<void>((resolve, reject) => {
      const onFree = (): void => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      const onAbort = (): void => {
        this.#waiters.delete(onFree);
        reject(signal.reason as Error);
      };
      this.#waiters.add(onFree);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Gives a slot back, to the waiter that has waited longest. */
  release(): void {
    for (const next of this.#waiters) {
      this.#waiters.delete(next);
      next();
      return;
    }
    this.#taken--;
  }
}
