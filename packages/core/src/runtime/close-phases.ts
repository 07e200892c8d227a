import type { RuntimeParts } from "./build.ts";
import type { StopPhase } from "./stop-phases.ts";

/** Each close of a part, detached from whoever asked for the stop. */
export const CLOSE_CEILING_MS = 5_000;

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

function close(name: string, part: Partial<AsyncDisposable>): StopPhase {
  return { name, ceilingMs: CLOSE_CEILING_MS, run: async () => part[Symbol.asyncDispose]?.() };
}
