import type { Job } from "./job.ts";
import type { JobParts } from "./job-parts.ts";

/** How often jobs are looked for where there are no leases. */
const LOOK_MS = 2_000;

/** Of an owner that is not heard of, its last sign of life and since when, in monotonic milliseconds. */
interface Silence {
  readonly beat: number;
  readonly since: number;
}

/** Owners of jobs that are not heard of: one that is silent for long enough is taken for gone. */
export class SilentOwners {
  readonly #parts: JobParts;
  readonly #silent = new Map<string, Silence>();

  constructor(parts: JobParts) {
    this.#parts = parts;
  }

  /** Jobs are looked for again by then, or as soon as one of them has been silent for long enough. */
  get untilLookMs(): number {
    const { config, clock } = this.#parts;
    const { stores, bridge } = config();
    const lookMs = stores.lease === undefined ? LOOK_MS : Math.min(bridge.leasePollIntervalMs, LOOK_MS * 5);
    const [ttlMs, now] = [this.ttlMs ?? 0, clock.monotonic()];
    const dueMs = [...this.#silent.values()].map(({ since }) => since + ttlMs - now).filter((ms) => ms > 0);
    return Math.min(lookMs, ...dueMs);
  }

  /** How long a silent owner is believed to live; `undefined` in a store of this process alone. */
  get ttlMs(): number | undefined {
    const { stores, bridge } = this.#parts.config();
    return stores.dlq?.reach === "cluster" ? bridge.leaseTtlMs : undefined;
  }

  /** Nobody works on it, or whoever did is not heard of any more. */
  isFree({ id, owner }: Job): boolean {
    const { holder, clock } = this.#parts;
    const { ttlMs } = this;
    if (owner === undefined || owner.holder === holder || ttlMs === undefined) return true;
    const now = clock.monotonic();
    const { beat } = owner;
    const silent = this.#silent.get(id);
    if (silent?.beat === beat) return now - silent.since >= ttlMs;
    this.#silent.set(id, { beat, since: now });
    return false;
  }

  forget(id: string): void {
    this.#silent.delete(id);
  }

  forgetOthersThan(ids: readonly string[]): void {
    const known = new Set(ids);
    for (const id of this.#silent.keys()) if (!known.has(id)) this.#silent.delete(id);
  }
}
