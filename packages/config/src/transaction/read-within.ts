import type { Clock } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";

const TIMEOUT_MS = 30_000;

/** Bounds the reading of what is stored and of what it refers to. */
export async function readWithin<Result>(
  clock: Clock,
  signal: AbortSignal,
  work: (bound: AbortSignal) => Promise<Result>,
): Promise<Result> {
  using limit = deadline(clock, TIMEOUT_MS, new Error(`not read in ${TIMEOUT_MS / 1_000} s`));
  const bound = AbortSignal.any([signal, limit.signal]);
  return await orAborted(work(bound), bound);
}
