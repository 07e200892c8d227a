/** Counts a route's unfinished records against `max_outbox_depth`: at the limit, intake waits. */
export class OutboxDepth {
  readonly max: number;
  #depth = 0;
  readonly #waiters = new Set<() => void>();

  constructor(max: number) {
    this.max = max;
  }

  get depth(): number {
    return this.#depth;
  }

  /** Whether intake has to wait. */
  get full(): boolean {
    return this.#depth >= this.max;
  }

  /** Takes room for `count` records if there is enough. A message with more legs than the limit gets room once all is free. */
  tryTake(count: number): boolean {
    if (this.#depth > 0 && this.#depth + count > this.max) return false;
    this.#depth += count;
    return true;
  }

  /** Adds records that existed before, such as those of a former process. */
  found(count: number): void {
    this.#depth += count;
  }

  give(count: number): void {
    this.#depth -= count;
    for (const waiter of this.#waiters) waiter();
  }

  /** Resolves when room has been given back, or `signal` aborts. */
  async changed(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        signal.removeEventListener("abort", done);
        this.#waiters.delete(done);
        resolve();
      };
      this.#waiters.add(done);
      signal.addEventListener("abort", done, { once: true });
    });
  }
}
