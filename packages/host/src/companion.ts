import { orAborted } from "@bridge/ports/internal";
import { messageOf } from "./message-of.ts";

/** What a process does besides carrying messages, from when its servers are open until the bridge has ended. */
export interface Companion {
  /** For the log and for stop errors: `metrics flush`. */
  readonly name: string;
  /** Called once. */
  start(): void;
  /**
   * Ends it, and hands over what it still holds. Called once, when nothing is carried any more; `signal` aborts at the
   * end of the shutdown's budget, and what it still does then is abandoned.
   */
  stop(signal: AbortSignal): Promise<void>;
}

/**
 * Stops them side by side.
 * @throws Error naming those that failed, or that did not end before `budget` aborted
 */
export async function stopAll(companions: readonly Companion[], budget: AbortSignal): Promise<void> {
  const ends = companions.map(async (companion) => {
    try {
      await orAborted(companion.stop(budget), budget);
      return undefined;
    } catch (error) {
      return `${companion.name}: ${messageOf(error)}`;
    }
  });
  const failures = (await Promise.all(ends)).filter((failure) => failure !== undefined);
  if (failures.length > 0) throw new Error(failures.join("; "));
}
