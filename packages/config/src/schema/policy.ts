import { describe, duration, integer, positiveDuration } from "@bridge/ports/options";
import * as v from "valibot";

const action = () => v.picklist(["dlq", "drop"]);

const number = (min: number, max: number, message: string) =>
  v.pipe(v.number(message), v.minValue(min, message), v.maxValue(max, message));

const backoffSchema = v.strictObject({
  initial_interval: describe(v.optional(positiveDuration(), "1s"), "The wait before the first retry."),
  max_interval: describe(v.optional(positiveDuration(), "30s"), "The longest wait between two attempts."),
  multiplier: describe(
    v.optional(number(1, 1000, "expected a number from 1 to 1000"), 2),
    "What each wait is multiplied by to give the next; at least 1.",
  ),
  jitter: describe(
    v.optional(number(0, 1, "expected a number from 0 to 1"), 0.2),
    "The fraction by which each wait is spread at random, up or down; 0 to 1.",
  ),
});

/** The `policy` of a route: how much it holds, how it retries, and what becomes of a message that fails. */
export const policySchema = v.strictObject({
  max_in_flight: describe(
    v.optional(integer(1, 100_000), 100),
    "The most messages that are held unsettled at once. At this limit the source has to wait: there is no other back-pressure.",
  ),
  max_replay_attempts: describe(
    v.optional(integer(1), 5),
    "The most attempts, the first one included, before a transient error counts as a failure.",
  ),
  replay_budget: describe(
    v.optional(duration(), "0s"),
    "Above 0s: transient errors count as a failure only when the message is also older than this.",
  ),
  send_timeout: describe(
    v.optional(positiveDuration(), "30s"),
    "How long one send may take. Over an exclusive session it is at most nine tenths of `lease_ttl`, and its default at most half of `lease_ttl`.",
  ),
  max_outbox_depth: describe(
    v.optional(integer(1), 10_000),
    "`shared_outbox` only: how many records may wait before the source is held back.",
  ),
  ack_after: describe(
    v.optional(v.picklist(["target_accept"]), "target_accept"),
    "When a message is acknowledged to its source: once the target has accepted it.",
  ),
  on_permanent_failure: describe(
    v.optional(action(), "dlq"),
    "What becomes of a message that failed for good: kept in the DLQ, or dropped.",
  ),
  on_expired: describe(v.optional(action(), "dlq"), "What becomes of a message that expired before it was sent."),
  on_filtered: describe(v.optional(action(), "drop"), "What becomes of a message that a processor filtered out."),
  allow_unfenced: describe(
    v.optional(v.boolean(), false),
    "Declares that exactly one replica consumes the subscription.",
  ),
  backoff: describe(v.optional(backoffSchema, {}), "The waits between attempts."),
});
