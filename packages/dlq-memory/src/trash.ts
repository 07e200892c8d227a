import { type Clock, mergedMarks } from "@bridge/ports";
import { type Entry, withMarks } from "./entry.ts";

/** What is over its time may stay this much longer. */
const SWEEP_MS = 60_000;

interface Discarded {
  readonly entry: Entry;
  readonly until: number;
}

/** Entries that can be taken back for a time. */
export class Trash implements Disposable {
  readonly #clock: Clock;
  readonly #isAwaited: (batch: string) => boolean;
  /** By the name of the batch, then by id. None is empty. */
  readonly #batches = new Map<string, Map<string, Discarded>>();
  #size = 0;
  /** While there is something to sweep. */
  #timer: Disposable | undefined;

  /** `isAwaited`: a batch is being taken back, and in time until that is over. */
  constructor(clock: Clock, isAwaited: (batch: string) => boolean) {
    this.#clock = clock;
    this.#isAwaited = isAwaited;
  }

  /** How many are held, in time or not. */
  get size(): number {
    return this.#size;
  }

  /** How many of them a batch has. */
  sizeOf(name: string): number {
    return this.#batches.get(name)?.size ?? 0;
  }

  /** Of an id that the batch has already the later entry is kept, with the marks of both. */
  add(entries: Iterable<Entry>, name: string, until: number): void {
    const now = this.#clock.now();
    for (const entry of entries) {
      const batch = this.#batches.get(name) ?? new Map<string, Discarded>();
      this.#batches.set(name, batch);
      const former = batch.get(entry.head.id);
      if (former === undefined) this.#size++;
      else if (former.until > now)
        entry.head = withMarks(entry.head, mergedMarks(entry.head.marks, former.entry.head.marks));
      batch.set(entry.head.id, { entry, until });
    }
    if (this.#size > 0) this.#timer ??= this.#clock.every(SWEEP_MS, () => this.sweep());
  }

  /** Takes up to so many entries of a batch, those that are in time. */
  take(name: string, limit: number): readonly Entry[] {
    const batch = this.#batches.get(name) ?? new Map<string, Discarded>();
    const now = this.#isAwaited(name) ? -Infinity : this.#clock.now();
    const taken: Entry[] = [];
    for (const [id, { entry, until }] of batch) {
      if (taken.length >= limit) break;
      if (until > now) taken.push(entry);
      this.#erase(name, batch, id);
    }
    this.#rest();
    return taken;
  }

  /** Erases what any batch has of these ids. */
  erase(ids: readonly string[]): void {
    for (const [name, batch] of this.#batches) for (const id of ids) if (batch.has(id)) this.#erase(name, batch, id);
    this.#rest();
  }

  /** Erases what is over its time. */
  sweep(): void {
    const now = this.#clock.now();
    for (const [name, batch] of this.#batches) {
      if (this.#isAwaited(name)) continue;
      for (const [id, { until }] of batch) if (until <= now) this.#erase(name, batch, id);
    }
    this.#rest();
  }

  [Symbol.dispose](): void {
    this.#batches.clear();
    this.#size = 0;
    this.#rest();
  }

  #erase(name: string, batch: Map<string, Discarded>, id: string): void {
    batch.delete(id);
    this.#size--;
    if (batch.size === 0) this.#batches.delete(name);
  }

  #rest(): void {
    if (this.#size > 0) return;
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }
}
