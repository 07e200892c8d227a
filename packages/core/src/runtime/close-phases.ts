import { holds } from "@bridge/config";
import { STEP_DOWN_PARTS } from "../lease/lease-keeper.ts";
import type { RuntimeParts } from "./runtime-parts.ts";
import type { StopPhase } from "./stop-phases.ts";

/** Each close of a part, detached from whoever asked for the stop. */
const CLOSE_CEILING_MS = 5_000;
/** Above the bounds that keepers of leases set themselves. */
const RELEASE_CEILING_MS = 15_000;

holds("the release of a lease", RELEASE_CEILING_MS, STEP_DOWN_PARTS);

/** The phases that close `parts`, side by side. `disconnected` resolves when the keeper of a link has ended. */
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
 * The phases that release the leases of `parts`, when what stood under them is closed. `released` resolves when the
 * keeper of a lease has ended; it bounds itself.
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
