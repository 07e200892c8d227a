// Imported rather than global, so that a test may replace the global one by a fake.
import { setImmediate } from "node:timers";

/** So many turns of the event loop without a look at the clock, and nobody is at work. */
const QUIET_TURNS = 2;
/** Who works on and on, such as a source that never ends, is not waited for any longer. */
const MOST_TURNS = 1_000;

/** Lets run whatever can without time passing. */
export async function quiet(clock: { readonly looks: number }): Promise<void> {
  let [looks, since] = [clock.looks, 0];
  for (let turn = 0; turn < MOST_TURNS && since < QUIET_TURNS; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    since = clock.looks === looks ? since + 1 : 0;
    looks = clock.looks;
  }
}
