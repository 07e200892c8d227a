import { holds } from "@bridge/config";
import { STEP_DOWN_PARTS } from "../lease/lease-keeper.ts";
import type { RuntimeParts } from "./runtime-parts.ts";
import type { StopPhase } from "./stop-phases.ts";

/** The limit for closing each part, independent of the caller that asked for the stop. */
const CLOSE_CEILING_MS = 5_000;
/** Above the limits that lease keepers set themselves. */
const RELEASE_CEILING_MS = 15_000;

holds("the release of a lease", RELEASE_CEILING_MS, STEP_DOWN_PARTS);

/** The phases that close `parts`, in parallel. `disconnected` resolves when a link's keeper has ended. */
export function closePhases(
  { links, intakes, senders, processors, managed }: RuntimeParts,
  disconnected: (key: string) => Promise<void> | undefined,
): readonly StopPhase[] {
  return [
    ...[...links].map(([key, { sessionId, session }]) => ({
      name: managed.has(sessionId) ? "session manager" : `unmanaged session ${sessionId}`,
      ceilingMs: CLOSE_CEILING_MS,
      run: async () => {
        await disconnected(key);
        await session[Symbol.asyncDispose]();
      },
    })),
    ...[...intakes].map(([key, { receiver }]) => close(key, receiver)),
    ...[...senders].map(([key, sender]) => close(key, sender)),
    ...[...processors].map(([key, { processor }]) => close(key, processor)),
  ];
}

/**
 * The phases that release the leases of `parts`, once everything under them is closed. `released` resolves when a
 * lease's keeper has ended, which limits its own time.
 */
export function releasePhases(
  { leases }: RuntimeParts,
  released: (key: string) => Promise<void> | undefined,
): readonly StopPhase[] {
  return [...leases.keys()].map((key) => ({
    name: key,
    ceilingMs: RELEASE_CEILING_MS,
    run: async () => released(key),
  }));
}

function close(name: string, part: Partial<AsyncDisposable>): StopPhase {
  return { name, ceilingMs: CLOSE_CEILING_MS, run: async () => part[Symbol.asyncDispose]?.() };
}
