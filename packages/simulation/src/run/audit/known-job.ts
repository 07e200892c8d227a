import type { Job } from "@bridge/core";

/** A job of the DLQ, with what was seen of it. */
export interface KnownJob {
  document: Job;
  /** The entries that it was planned for, each with its spell. */
  readonly set: ReadonlyMap<string, number>;
  /** Those that were kept back from it then. */
  readonly heldBack: ReadonlyMap<string, number>;
  /** How many had come by then. */
  readonly came: number;
  /** Entries that were fetched since it is there, and those of them that were gone at some time since. */
  readonly fetched: Set<string>;
  readonly gone: Set<string>;
  /** By try: the entries that it has marked. */
  readonly marked: Map<number, Set<string>>;
  mostAtOnce: number;
  /** How often it has gone from one instance to another. */
  handovers: number;
  lastOwner: string | undefined;
  /** Until when whoever had it before may not know that somebody else has it: clocks drift. */
  unawareUntil: number;
  /** By binding: attempts of what its target was heard to have, by another instance. */
  readonly again: Map<string, number>;
  /** Entries that it has put into the trash, and had back. */
  trashed: number;
}

/** Two clocks that are each wrong by a hundredth, and some for rounding. */
const DRIFT = 0.03;
const LEAST_UNAWARE_MS = 5;

export function newlyKnown(
  document: Job,
  { set, heldBack, came }: Pick<KnownJob, "set" | "heldBack" | "came">,
): KnownJob {
  return {
    document,
    set,
    heldBack,
    came,
    fetched: new Set(),
    gone: new Set(),
    marked: new Map(),
    mostAtOnce: 0,
    handovers: 0,
    lastOwner: undefined,
    unawareUntil: -1,
    again: new Map(),
    trashed: 0,
  };
}

/** Its document was written, and may say that somebody else has it. `ttlMs`: how long others wait for a sign of life. */
export function followOwner(job: KnownJob, before: Job, { now, ttlMs }: { now: number; ttlMs: number }): void {
  const { owner, state } = job.document;
  if (before.owner?.holder !== owner?.holder || before.state !== state) {
    const unawareMs = Math.max(LEAST_UNAWARE_MS, ttlMs * DRIFT);
    // Who gives it up, or obeys, knows that.
    if (before.owner !== undefined && owner !== undefined && before.owner.holder !== owner.holder)
      job.unawareUntil = now + unawareMs;
  }
  if (owner === undefined || owner.instanceId === job.lastOwner) return;
  if (job.lastOwner !== undefined) job.handovers++;
  job.lastOwner = owner.instanceId;
}
