import { type Clock } from "@bridge/ports";
import { sharedTurns, Slices } from "@bridge/ports/internal";

/** Apart from those of answers: a change that waited behind thousands of these would not keep to its budgets. */
const changeTurns = sharedTurns();

/** The slices of one change, start or stop of what runs; they begin in this turn. */
export function changeSlices(clock: Pick<Clock, "monotonic" | "turn">): Slices {
  return new Slices(clock, changeTurns(clock));
}
