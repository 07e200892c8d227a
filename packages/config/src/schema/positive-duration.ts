import { duration } from "@bridge/ports/options";
import * as v from "valibot";

/** A duration that is longer than nothing; its output is milliseconds. */
export function positiveDuration() {
  return v.pipe(duration(), v.minValue(1, "must be longer than 0s"));
}
