import { type Clock } from "@bridge/ports";
import { sharedTurns, Slices } from "@bridge/ports/internal";

/** Separate from the turns of answers: a change that queued behind thousands of those would miss its budgets. */
const changeTurns = sharedTurns();

/** The slices of one change, start or stop of the runtime; they begin in this turn. */
export function changeSlices(clock: Pick<Clock, "monotonic" | "turn">): Slices {
  return new Slices(clock, changeTurns(clock));
}
