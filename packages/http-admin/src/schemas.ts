import { ERROR_CLASSES } from "@bridge/ports";
import * as v from "valibot";

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const time = v.pipe(v.string(), v.metadata({ format: "date-time" }));

export const bridgeInfo = v.object({
  instance_id: v.string(),
  running: v.boolean(),
  routes: v.pipe(count, v.description("How many routes are configured.")),
});

export const route = v.object({
  id: v.string(),
  delivery_mode: v.string(),
  dispatch_mode: v.string(),
  max_in_flight: v.pipe(v.number(), v.integer()),
  paused: v.pipe(v.optional(v.boolean()), v.description("True while an operator has paused it; else absent.")),
});

export const injected = v.object({
  status: v.literal("injected"),
  envelope_id: v.string(),
  warning: v.optional(v.string()),
});

export const notDelivered = v.object({
  error: v.pipe(v.string(), v.description("Why, in words; with the bindings that failed.")),
  reason: v.picklist(["dropped", "filtered", "expired", "dead_lettered"]),
  envelope_id: v.string(),
  warning: v.optional(v.string()),
});

const entryFields = {
  id: v.string(),
  route_id: v.string(),
  binding_id: v.pipe(v.string(), v.description("The binding that failed; empty when none had been chosen.")),
  source_id: v.string(),
  correlation_id: v.string(),
  subject: v.string(),
  reason: v.string(),
  category: v.picklist(ERROR_CLASSES),
  error_code: v.string(),
  last_error: v.string(),
  failed_at: time,
  attempts: count,
  causation_id: v.optional(v.pipe(v.string(), v.description("Of a redriven message: the envelope that it repeats."))),
  redrives: v.optional(v.pipe(count, v.description("How often it had been redriven."))),
} as const;

export const entryHead = v.object(entryFields);

export const entry = v.object({
  ...entryFields,
  payload: v.pipe(v.string(), v.metadata({ contentEncoding: "base64" })),
  envelope: v.object({
    id: v.string(),
    source_id: v.string(),
    subject: v.string(),
    content_type: v.string(),
    headers: v.record(v.string(), v.string()),
    correlation_id: v.string(),
    received_at: time,
    expires_at: v.optional(time),
  }),
});

export const summary = v.object({
  configured: v.literal(true),
  count: v.pipe(count, v.maxValue(1_000)),
  count_capped: v.pipe(v.boolean(), v.description("There may be more entries than the count says.")),
});

export const entryPage = v.object({
  messages: v.array(entryHead),
  limit: count,
  offset: count,
  has_more: v.boolean(),
});

const more = v.pipe(
  v.optional(v.literal(true)),
  v.description("The time was up first: some may be left, so call again. Absent when none is."),
);

export const deleted = v.object({ deleted: count });
export const deletedWhere = v.object({ deleted: count, has_more: more });
export const purged = v.object({ purged: count, has_more: more });

export const redriven = v.object({ redriven: count, failed: v.literal(0), warning: v.optional(v.string()) });
export const partlyRedriven = v.object({
  redriven: count,
  failed: count,
  errors: v.array(v.object({ id: v.string(), error: v.string() })),
  warning: v.optional(v.string()),
});

export const damageAcknowledged = v.object({ acknowledged: v.array(v.string()) });

const outboxBacklog = v.object({
  route_id: v.string(),
  binding_id: v.string(),
  configured: v.pipe(v.boolean(), v.description("False when no configured route delivers these any more.")),
  depth: v.pipe(count, v.description("Records that are not delivered yet, those being sent included.")),
  oldest_created_at: time,
  oldest_age_ms: count,
  blocked_keys: v.pipe(count, v.description("Ordering keys that wait for the retry of their oldest record.")),
});

export const outboxSummary = v.object({ depth: count, bindings: v.array(outboxBacklog) });

export const outboxRecord = v.object({
  id: v.string(),
  route_id: v.string(),
  binding_id: v.string(),
  envelope_id: v.string(),
  subject: v.string(),
  address: v.pipe(
    v.string(),
    v.description("`[REDACTED]` when that of the binding came in through a reference, or the binding is gone."),
  ),
  ordering_key: v.optional(v.string()),
  created_at: time,
  due_at: v.pipe(time, v.description("Not sent again before this.")),
  attempts: count,
  in_flight: v.pipe(v.boolean(), v.description("Being sent at the moment.")),
});

export const outboxPage = v.object({
  messages: v.array(outboxRecord),
  limit: count,
  offset: count,
  has_more: v.boolean(),
});

export const moved = v.object({ moved: count, failed: v.literal(0) });
export const partlyMoved = v.object({
  moved: count,
  failed: count,
  errors: v.array(v.object({ id: v.string(), error: v.string() })),
});
