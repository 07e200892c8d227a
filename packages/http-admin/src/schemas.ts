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
const sentAs = v.optional(
  v.pipe(
    v.string(),
    v.description("That it was sent under. Absent: another redrive has sent it, and this one nothing."),
  ),
);
export const entryNotDelivered = v.object({ ...notDelivered.entries, envelope_id: sentAs });

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
  envelope_id: v.pipe(v.string(), v.description("Empty when the entry cannot be read.")),
  payload_bytes: count,
  fingerprint: v.pipe(
    v.string(),
    v.description("The same for failures of one kind: route, binding, code, and what does not vary in the error."),
  ),
  causation_id: v.optional(v.pipe(v.string(), v.description("Of a redriven message: the envelope that it repeats."))),
  redrives: v.optional(
    v.pipe(
      v.object({
        count: v.pipe(v.number(), v.integer(), v.minValue(1)),
        last_at: v.optional(time),
        last_code: v.optional(v.string()),
        last_error: v.optional(v.string()),
        job_id: v.optional(v.pipe(v.string(), v.description("The job that tried last. Absent: it was no job."))),
      }),
      v.description(
        "How often it was redriven in vain; of redrives that have left a mark on it, how the last of them ended.",
      ),
    ),
  ),
  assignee: v.optional(v.pipe(v.string(), v.description("Who works on it."))),
  quarantined: v.optional(v.pipe(v.literal(true), v.description("It is kept back from redrives."))),
  notes: v.optional(
    v.pipe(v.array(v.object({ at: time, by: v.string(), text: v.string() })), v.description("Oldest first.")),
  ),
} as const;

export const entryHead = v.object(entryFields);

export const entry = v.object({
  ...entryFields,
  payload: v.optional(
    v.pipe(
      v.string(),
      v.description("Absent: you may see only its size and digest."),
      v.metadata({ contentEncoding: "base64" }),
    ),
  ),
  payload_sha256: v.optional(v.pipe(v.string(), v.description("In place of the payload: its digest in hexadecimal."))),
  redacted: v.optional(
    v.pipe(v.literal(true), v.description("You are not shown all of it: this is no valid input for an edit.")),
  ),
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

const cursor = v.optional(v.pipe(v.string(), v.description("Opaque, and good for ever, also when its entry is gone.")));

export const entryPage = v.object({
  messages: v.array(entryHead),
  limit: count,
  offset: count,
  has_more: v.pipe(v.boolean(), v.description("There may be more: `next_cursor` is there, if the store has pages.")),
  next_cursor: cursor,
  prev_cursor: cursor,
  scanned: v.optional(
    v.pipe(
      count,
      v.description("Entries that were looked at for this page; of pages with a cursor, a sort or more filters."),
    ),
  ),
});

const groupKey = v.object({
  route_id: v.optional(v.string()),
  binding_id: v.optional(v.pipe(v.string(), v.description("Empty: no binding had been chosen."))),
  category: v.optional(v.picklist(ERROR_CLASSES)),
  error_code: v.optional(v.string()),
  fingerprint: v.optional(v.string()),
  assignee: v.optional(v.pipe(v.string(), v.description("Empty: nobody."))),
});

export const entryGroups = v.object({
  total: v.pipe(count, v.description("Entries that match; of those that were looked at, when it is not exact.")),
  exact: v.pipe(v.boolean(), v.description("False: only the newest `counted` entries were looked at.")),
  counted: count,
  as_of: time,
  oldest_failed_at: v.optional(time),
  newest_failed_at: v.optional(time),
  groups: v.pipe(
    v.array(
      v.object({
        key: groupKey,
        count,
        oldest_failed_at: time,
        newest_failed_at: time,
        sample: v.optional(
          v.pipe(
            v.object({
              id: v.string(),
              route_id: v.string(),
              binding_id: v.string(),
              error_code: v.string(),
              last_error: v.string(),
            }),
            v.description("One of the group. Absent: it has been deleted meanwhile."),
          ),
        ),
      }),
    ),
    v.description("Largest first."),
  ),
  more_groups: v.boolean(),
  histogram: v.optional(v.object({ from: time, step_ms: count, counts: v.array(count) })),
});

export const annotated = v.object({ annotated: v.pipe(count, v.description("Those that were there.")) });

const more = v.pipe(
  v.optional(v.literal(true)),
  v.description("The time was up first: some may be left, so call again. Absent when none is."),
);

export const deleted = v.object({ deleted: count });
export const deletedWhere = v.object({ deleted: count, has_more: more });
export const purged = v.object({ purged: count, has_more: more });

export const imported = v.object({
  imported: count,
  present: v.pipe(count, v.description("Lines whose entry was there already, and stays as it is.")),
  failed: v.literal(0),
});
export const partlyImported = v.object({
  imported: count,
  present: count,
  failed: count,
  errors: v.array(v.object({ line: v.pipe(count, v.description("The first one is 1.")), error: v.string() })),
});

export const redriven = v.object({ redriven: count, failed: v.literal(0), warning: v.optional(v.string()) });
export const redrivenEntry = v.object({
  status: v.literal("redriven"),
  entry_id: v.string(),
  envelope_id: sentAs,
  warning: v.optional(v.string()),
});
export const notRedriven = v.object({
  error: v.string(),
  reason: v.pipe(
    v.picklist(["busy", "gone", "quarantined", "paused"]),
    v.description(
      "`busy`: it is redriven at the moment, or was; `gone`: it was not delivered, and was deleted meanwhile; `paused`: its route is.",
    ),
  ),
  envelope_id: v.optional(
    v.pipe(
      v.string(),
      v.description("It was sent under this id: with `busy` it was delivered, and so was it by somebody else."),
    ),
  ),
});
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
    v.description(
      "`[REDACTED]` when that of the binding came in through a reference, the binding is gone, or it holds a header that the caller may not see.",
    ),
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

const blockedKey = v.object({
  route_id: v.string(),
  binding_id: v.string(),
  ordering_key: v.string(),
  depth: v.pipe(count, v.description("Records of the key that are not delivered yet; of very many a lower bound.")),
  oldest_id: v.pipe(v.string(), v.description("The record that holds up the others.")),
  attempts: v.pipe(count, v.description("Of that record.")),
  due_at: v.pipe(time, v.description("When it is sent again.")),
  blocked_since: v.pipe(time, v.description("When that record was persisted: the key is not blocked for longer.")),
});

export const blockedKeys = v.object({ keys: v.array(blockedKey), has_more: v.boolean() });

export const moved = v.object({ moved: count, failed: v.literal(0) });
export const partlyMoved = v.object({
  moved: count,
  failed: count,
  errors: v.array(v.object({ id: v.string(), error: v.string() })),
});
