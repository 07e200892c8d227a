import { describe, integer } from "@bridge/ports/options";
import * as v from "valibot";

const EXPECTED = "expected a number from 0.001 to 1000000";

/** The `rate_limit` of a route or a sender. */
export const rateLimitSchema = v.strictObject({
  messages_per_second: describe(
    v.pipe(v.number(EXPECTED), v.minValue(0.001, EXPECTED), v.maxValue(1_000_000, EXPECTED)),
    "How many messages go through each second, in the long run.",
  ),
  burst: describe(
    v.optional(integer(1, 1_000_000)),
    "How many messages may go at once after a pause. Default: those of one second, at least 1. Those of 10 ms may always go at once.",
  ),
});
