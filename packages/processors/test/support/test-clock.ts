import type { Clock } from "@bridge/ports";

interface Ticking {
  readonly everyMs: number;
  readonly tick: () => void;
  due: number;
}

/** A clock that moves when a test says so, and whose ticks come then. */
export class TestClock implements Clock {
  #time = 0;
  readonly #ticking = new Set<Ticking>();

  /** How many ticks somebody waits for. */
  get ticking(): number {
    return this.#ticking.size;
  }

  now(): number {
    return this.#time;
  }

  monotonic(): number {
    return this.#time;
  }

  delay(): Promise<void> {
    throw new Error("nobody here waits for a time");
  }

  every(everyMs: number, tick: () => void): Disposable {
    const ticking = { everyMs, tick, due: this.#time + everyMs };
    this.#ticking.add(ticking);
    return { [Symbol.dispose]: () => void this.#ticking.delete(ticking) };
  }

  advance(ms: number): void {
    const end = this.#time + ms;
    for (;;) {
      const next = [...this.#ticking].filter(({ due }) => due <= end).toSorted((a, b) => a.due - b.due)[0];
      if (next === undefined) break;
      this.#time = next.due;
      next.due += next.everyMs;
      next.tick();
    }
    this.#time = end;
  }
}
