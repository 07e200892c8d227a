import type { Clock } from "@bridge/ports";
import { deadline, orAborted, type Slices } from "@bridge/ports/internal";
import type { RuntimeParts } from "./runtime-parts.ts";

const OPEN_TIMEOUT_MS = 30_000;

/** Opens what the receivers of `parts` listen on. */
export async function openReceivers(
  { intakes }: Pick<RuntimeParts, "intakes">,
  clock: Pick<Clock, "after">,
  slices: Slices,
  opening: AbortSignal,
): Promise<void> {
  opening.throwIfAborted();
  using bound = deadline(clock, OPEN_TIMEOUT_MS, new Error(`a receiver was not open after ${OPEN_TIMEOUT_MS} ms`));
  const signal = AbortSignal.any([opening, bound.signal]);
  for (const { receiver } of intakes.values()) {
    if (receiver.open !== undefined) await orAborted(receiver.open(signal), signal);
    if (slices.over) await slices.next();
  }
}
