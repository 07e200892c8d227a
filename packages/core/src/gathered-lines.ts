import type { Clock } from "@bridge/ports";

const GATHERED_MS = 60_000;

interface Gathered {
  count: number;
  tell: (count: number) => void;
}

/** Tells the first one of a kind at once, and the others each minute, with their number. */
export class GatheredLines implements Disposable {
  readonly #clock: Clock;
  readonly #kinds = new Map<string, Gathered>();
  #minutes: Disposable | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Of those that are told together, the last one has its say. */
  note(kind: string, tell: (count: number) => void, count = 1): void {
    const gathered = this.#kinds.get(kind);
    if (gathered !== undefined) {
      gathered.count += count;
      gathered.tell = tell;
      return;
    }
    this.#kinds.set(kind, { count: 0, tell });
    tell(count);
    this.#minutes ??= this.#clock.every(GATHERED_MS, () => this.#minute());
  }

  /** Tells what is left to tell. */
  [Symbol.dispose](): void {
    this.#minute();
    this.#kinds.clear();
    this.#rest();
  }

  #minute(): void {
    for (const [kind, gathered] of this.#kinds) {
      const { count, tell } = gathered;
      gathered.count = 0;
      if (count > 0) tell(count);
      else this.#kinds.delete(kind);
    }
    if (this.#kinds.size === 0) this.#rest();
  }

  #rest(): void {
    this.#minutes?.[Symbol.dispose]();
    this.#minutes = undefined;
  }
}
