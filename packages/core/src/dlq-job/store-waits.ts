import type { Clock } from "@bridge/ports";
import { StoreWait } from "./store-wait.ts";

/** Nothing of what the job waits for may be taken or told for so long; then it halts. */
const PATIENCE_MS = 60_000;
/** It says so by then. */
const TOLD_AFTER_MS = 3_000;

/** What a job waits for at its store, by kinds: a store may have room for one of them and none for the others, or be locked in part. */
export class StoreWaits {
  readonly reads: StoreWait;
  /** Marks, deletions, the trash. */
  readonly writes: StoreWait;
  readonly #document: StoreWait;

  constructor(clock: Pick<Clock, "monotonic">, document: StoreWait) {
    this.reads = new StoreWait(clock);
    this.writes = new StoreWait(clock);
    this.#document = document;
  }

  /** Why the job does not go on, when that takes long enough to be told. */
  get why(): string | undefined {
    return this.#errorAfter(TOLD_AFTER_MS);
  }

  /** What the job halts with, when it is to. */
  get haltError(): string | undefined {
    return this.#errorAfter(PATIENCE_MS);
  }

  #errorAfter(ms: number): string | undefined {
    const longest = [this.#document, this.writes, this.reads].reduce((one, other) => (other.ms > one.ms ? other : one));
    return longest.ms > ms ? (longest.failure?.message ?? "the DLQ store does not answer") : undefined;
  }
}
