import { PROGRESS, READINESS_LEVELS } from "@bridge/core";
import * as v from "valibot";

const role = v.picklist(["active", "standby", "standalone"]);
const serviceLevel = v.picklist(["full", "degraded", "none"]);
export const level = v.picklist(READINESS_LEVELS, `expected one of ${READINESS_LEVELS.join(", ")}`);

export const topology = v.object({
  instance_id: v.string(),
  running: v.boolean(),
  config_version: v.number(),
  routes: v.array(v.object({ id: v.string(), delivery_mode: v.string(), dispatch_mode: v.string() })),
});

export const routeProgress = v.object({
  progress: v.optional(
    v.pipe(
      v.picklist(PROGRESS),
      v.description(
        "waiting: for a pause, a lease, a link, a store, a rate limit or room in the outbox; stalled: nothing ends although there is work; failing: most attempts are refused. Absent, with all that belongs to it, while the bridge does not run.",
      ),
    ),
  ),
  since: v.optional(
    v.pipe(v.string(), v.metadata({ format: "date-time" }), v.description("Since when its progress is this.")),
  ),
  reason: v.optional(v.pipe(v.string(), v.description("Why it is waiting, stalled or failing; else absent."))),
  oldest_unsettled_seconds: v.optional(
    v.pipe(v.number(), v.description("How long the oldest delivery has been unsettled; 0 without any.")),
  ),
  failure_share: v.optional(
    v.pipe(
      v.number(),
      v.minValue(0),
      v.maxValue(1),
      v.description("Of the attempts that ended in the last minute, the share that failed; absent without any."),
    ),
  ),
});

export const route = v.object({
  id: v.string(),
  delivery_mode: v.string(),
  dispatch_mode: v.string(),
  max_in_flight: v.pipe(v.number(), v.integer()),
  max_replay: v.pipe(v.number(), v.integer(), v.description("Attempts in all, the first one included.")),
  ack_after: v.string(),
  on_expired: v.string(),
  on_perm_failure: v.string(),
  on_filtered: v.string(),
  ...routeProgress.entries,
});

export const readiness = v.object({
  status: v.picklist(["ready", "not_ready"]),
  role,
  level: v.pipe(level, v.description("The level that is achieved.")),
  requested: level,
});
export const ready = v.object({ status: v.literal("ready"), role });
export const notReady = v.object({ error: v.literal("not ready") });

export const session = v.object({
  session_id: v.string(),
  connected: v.boolean(),
  has_lease: v.boolean(),
  subscriptions_wanted: v.pipe(v.number(), v.integer()),
  subscriptions_active: v.pipe(v.number(), v.integer()),
  ready: v.boolean(),
  service_level: serviceLevel,
});

const store = v.object({
  role: v.picklist(["dlq", "outbox", "lease"]),
  type: v.string(),
  state: v.pipe(
    v.picklist(["closed", "opening", "up", "faulty"]),
    v.description(
      "opening: not open yet, and tried until it is; faulty: open, and refuses to be written to; closed: nothing has started it.",
    ),
  ),
  since: v.optional(
    v.pipe(v.string(), v.metadata({ format: "date-time" }), v.description("Since when it is in this state.")),
  ),
  open: v.boolean(),
  fault: v.optional(
    v.pipe(
      v.string(),
      v.description(
        "Why it refuses to be written to, such as a full disk, or why it is not open yet; absent while nothing is wrong.",
      ),
    ),
  ),
  set_aside: v.pipe(
    v.optional(v.array(v.string())),
    v.description("Damaged files that were set aside and that no operator has acknowledged; else absent."),
  ),
  spoiled: v.optional(
    v.pipe(
      v.number(),
      v.description("Records that were found not to be as they were written: kept, and never delivered; else absent."),
    ),
  ),
});

const configWatch = v.object({
  source: v.string(),
  version: v.number(),
  last_reload_at: v.optional(v.pipe(v.string(), v.metadata({ format: "date-time" }))),
  reloading_since: v.pipe(
    v.optional(v.pipe(v.string(), v.metadata({ format: "date-time" }))),
    v.description(
      "Since when what may be a newer version is read, checked and brought into force; last_error is as it was before. Absent while nothing is.",
    ),
  ),
  last_error: v.optional(v.string()),
  restart_required: v.optional(
    v.pipe(v.string(), v.description("The part of the configuration that applies only after a restart.")),
  ),
  staged: v.pipe(
    v.optional(
      v.object({
        version: v.number(),
        instance_id: v.string(),
        since: v.pipe(v.string(), v.metadata({ format: "date-time" })),
        confirm_by: v.pipe(
          v.optional(v.pipe(v.string(), v.metadata({ format: "date-time" }))),
          v.description("Until when it is on probation there. Absent: it is not."),
        ),
      }),
    ),
    v.description(
      "A version that an instance is committing, or has left behind; it runs on no other one. Else absent.",
    ),
  ),
});

const apiKeys = v.object({
  last_refresh_at: v.pipe(v.string(), v.metadata({ format: "date-time" })),
  failures: v.pipe(v.number(), v.integer(), v.description("How often the keys could not be read again.")),
  last_error: v.pipe(
    v.optional(v.string()),
    v.description("Why not, the last time; the last good keys are in force. Absent while they can be read."),
  ),
});

export const deepHealth = v.object({
  running: v.boolean(),
  healthy: v.boolean(),
  instance_id: v.string(),
  config_version: v.pipe(v.number(), v.description("Of the configuration that this instance runs.")),
  role,
  ready_for_traffic: v.boolean(),
  empty: v.pipe(v.boolean(), v.description("Neither routes nor sessions are configured.")),
  service_level: serviceLevel,
  level,
  sessions: v.array(session),
  routes: v.array(
    v.object({
      id: v.string(),
      delivery_mode: v.string(),
      paused: v.pipe(v.optional(v.boolean()), v.description("True while an operator has paused it; else absent.")),
      ...routeProgress.entries,
    }),
  ),
  stores: v.array(store),
  undelivered: v.pipe(
    v.optional(
      v.array(v.object({ route_id: v.string(), binding_id: v.string(), waiting: v.pipe(v.number(), v.integer()) })),
    ),
    v.description("What the outbox held of routes and bindings that are not configured, when it was opened."),
  ),
  config_watch: v.optional(configWatch),
  probation: v.pipe(
    v.optional(
      v.object({
        version: v.pipe(v.number(), v.integer()),
        former_version: v.pipe(v.number(), v.integer(), v.description("What comes back.")),
        confirm_by: v.pipe(v.string(), v.metadata({ format: "date-time" })),
        guard: v.optional(
          v.object({
            level: v.optional(v.string()),
            level_for_ms: v.optional(v.number()),
            failure_ratio: v.optional(v.number()),
            min_sends: v.optional(v.number()),
          }),
        ),
      }),
    ),
    v.description("The configuration that runs is taken back unless it is confirmed."),
  ),
  api_keys: v.optional(apiKeys),
  audit_faults: v.pipe(
    v.optional(v.array(v.object({ sink: v.string(), error: v.string() }))),
    v.description(
      "Sinks of audit events that do not keep what they are given; a change that needs one is refused. Else absent.",
    ),
  ),
});
