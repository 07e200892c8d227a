import { describe, duration, integer, positiveDuration } from "@bridge/ports/options";
import * as v from "valibot";
import { id, optionalId } from "./id.ts";

const MIN_LEASE_TTL_MS = 1_000;
const MIN_LEASE_POLL_MS = 100;

/** The `bridge` block (spec 2.14; contract §1). */
export const bridgeSchema = v.strictObject({
  id: describe(id(), "Names the bridge."),
  instance_id: describe(optionalId(), "Names this instance of the bridge. Default: the id and 8 random characters."),
  deployment_mode: describe(
    v.optional(v.picklist(["standalone", "clustered"]), "standalone"),
    "Whether several instances share the work. In clustered mode every store must be one that instances share.",
  ),
  log_level: describe(
    v.optional(v.picklist(["debug", "info", "warn", "error"]), "info"),
    "The lowest level that is logged.",
  ),
  shutdown_timeout: describe(v.optional(positiveDuration(), "30s"), "The grace period of the whole shutdown."),
  drain_timeout: describe(
    v.optional(positiveDuration(), "30s"),
    "The most time that a runtime is given to finish its work when it is stopped.",
  ),
  per_record_drain_timeout: describe(
    v.optional(positiveDuration(), "3s"),
    "What each record of an outbox batch adds to the time that the batch is given to drain.",
  ),
  max_drain_timeout: describe(
    v.optional(positiveDuration(), "10s"),
    "The most time that the records can add for a batch.",
  ),
  quiesce_timeout: describe(
    v.optional(duration(), "25s"),
    "How long a shutdown waits for messages in flight before it cancels them. The wait ends 5s before drain_timeout, or after half of it when drain_timeout is short.",
  ),
  terminal_linger: describe(
    v.optional(duration(), "5s"),
    "How long the liveness probe answers `terminal` before a bridge that is beyond recovery ends its process.",
  ),
  lease_ttl: describe(
    v.optional(duration({ min: MIN_LEASE_TTL_MS, problem: "must be at least 1s" }), "20s"),
    "How long an instance that holds an exclusive session may be silent before another takes over. It renews its lease at every quarter of this time.",
  ),
  lease_poll_interval: describe(
    v.optional(duration({ min: MIN_LEASE_POLL_MS, problem: "must be at least 100ms" }), "2s"),
    "How often an instance that waits for an exclusive session checks whether the session is free.",
  ),
  recent_legs: describe(
    v.optional(integer(0, 1_000_000), 100_000),
    "How many finished legs the process remembers, so that it can say where a message went: 21 bytes each. 0 switches this off.",
  ),
});
