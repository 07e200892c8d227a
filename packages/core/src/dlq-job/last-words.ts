import { BEAT_MS } from "./beat-until.ts";
import type { JobRun } from "./job-run.ts";
import { givenUp } from "./job-state.ts";

/**
 * Gives a job out of hand, as it is by then; what was asked for is carried out with that. `isInUse`: whether its store still is; `stored` is
 * called each time that the store takes it.
 */
export async function sayLastWords(
  { hold, cut, parts: { clock } }: Pick<JobRun, "hold" | "cut" | "parts">,
  isInUse: () => boolean,
  stored: () => void,
): Promise<void> {
  while (!hold.isLost) {
    const isSaid = await hold.save(new AbortController().signal, undefined, (known) => givenUp(known, clock.now()));
    if (isSaid) stored();
    if (isSaid && !hold.isAsked) break;
    // What nobody knows of it would be counted as gone: it is said until the store takes it.
    if (cut.aborted || !isInUse()) break;
    await clock.delay(BEAT_MS, cut).catch(() => {});
  }
}
