/** The time of day at first: so far from what is measured that one taken for the other shows. */
const EPOCH = Date.UTC(2026, 0, 1);

interface Timer {
  due: number;
  /** Absent for a delay. */
  readonly everyMs?: number;
  readonly fire: () => void;
}

/** A `Clock` of `@bridge/ports` that stands still until a test moves it. */
export class ManualClock {
  readonly #timers = new Set<Timer>();
  #time = 0;

  /** How many delays somebody waits for. */
  get delays(): number {
    return this.#timers.size - this.ticking;
  }

  /** How many ticks somebody has asked for. */
  get ticking(): number {
    return [...this.#timers].filter(({ everyMs }) => everyMs !== undefined).length;
  }

  now(): number {
    return EPOCH + this.#time;
  }

  monotonic(): number {
    return this.#time;
  }

  delay(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const onAbort = (): void => {
        this.#timers.delete(timer);
        reject(signal.reason as Error);
      };
      const fire = (): void => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      const timer = { due: this.#time + ms, fire };
      this.#timers.add(timer);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  every(everyMs: number, tick: () => void): Disposable {
    const timer = { due: this.#time + everyMs, everyMs, fire: tick };
    this.#timers.add(timer);
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }

  /** By the machine's time: a bound that waited for the test would bound nothing. */
  after(ms: number, fire: () => void): Disposable {
    const timer = setTimeout(fire, ms);
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  }

  turn(run: () => void): void {
    setImmediate(run);
  }

  /** Lets time pass: whatever comes due is told in its order, each at its time, before this returns. */
  advance(ms: number): void {
    const end = this.#time + ms;
    for (let next = this.#nextUntil(end); next !== undefined; next = this.#nextUntil(end)) {
      this.#time = next.due;
      if (next.everyMs === undefined) this.#timers.delete(next);
      else next.due += next.everyMs;
      next.fire();
    }
    this.#time = end;
  }

  /** The same; resolves when what was told has had a turn. */
  async pass(ms: number): Promise<void> {
    this.advance(ms);
    await new Promise((resolve) => setImmediate(resolve));
  }

  #nextUntil(end: number): Timer | undefined {
    return [...this.#timers].filter(({ due }) => due <= end).toSorted((a, b) => a.due - b.due)[0];
  }
}
