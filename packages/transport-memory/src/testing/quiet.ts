// Imported rather than global, so that a test may replace the global one by a fake.
import { setImmediate } from "node:timers";

/** So many turns of the event loop without a look at the clock, and nobody is at work. */
const QUIET_TURNS = 2;
/** Who works on and on, such as a source that never ends, is not waited for any longer. */
const MOST_TURNS = 1_000;
/** The same in looks at the clock, of which each message takes a few: a source that never waits has thousands in a turn. */
export const MOST_LOOKS = 1_000_000;

/** Lets run whatever can without time passing; resolves with whether it came to rest. */
export async function quiet(clock: { readonly looks: number }): Promise<boolean> {
  const begun = clock.looks;
  let [looks, since] = [begun, 0];
  for (let turn = 0; turn < MOST_TURNS && since < QUIET_TURNS && looks - begun < MOST_LOOKS; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    since = clock.looks === looks ? since + 1 : 0;
    looks = clock.looks;
  }
  return since >= QUIET_TURNS;
}
