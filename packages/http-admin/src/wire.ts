/**
 * Between the engine's words and those of the interface: the only place that knows both spellings. @module
 */
import { REDACTED } from "@bridge/config";
import type { BridgeView, InjectResult, RouteView } from "@bridge/core";
import {
  type BlockedKey,
  type DeadLetter,
  deadLetterHead,
  type DeadLetterHead,
  type Envelope,
  type OutboxBacklog,
  type OutboxHead,
  type Page,
} from "@bridge/ports";
import { Base64Text, formatTimestamp } from "@bridge/ports/internal";
import type { InferOutput } from "valibot";
import type { ShownMessage } from "./redaction.ts";
import type * as schemas from "./schemas.ts";

export function bridgeInfoToWire(view: BridgeView): InferOutput<typeof schemas.bridgeInfo> {
  return { instance_id: view.instanceId, running: view.running, routes: view.routes.length };
}

export function routeToWire(view: RouteView): InferOutput<typeof schemas.route> {
  const { id, deliveryMode, dispatchMode, policy, paused } = view;
  return {
    id,
    delivery_mode: deliveryMode,
    dispatch_mode: dispatchMode,
    max_in_flight: policy.maxInFlight,
    ...(paused && { paused }),
  };
}

export function injectedToWire({ envelopeId, warning }: InjectResult): InferOutput<typeof schemas.injected> {
  return { status: "injected", envelope_id: envelopeId, ...(warning !== undefined && { warning }) };
}

export function notDeliveredToWire(
  { envelopeId, warning }: InjectResult,
  reason: InferOutput<typeof schemas.notDelivered>["reason"],
  error: string,
): InferOutput<typeof schemas.notDelivered> {
  return { error, reason, envelope_id: envelopeId, ...(warning !== undefined && { warning }) };
}

/** Of a redrive of which another one was faster, and which has sent nothing itself, no message is named. */
export function entryNotDeliveredToWire(
  result: InjectResult,
  reason: InferOutput<typeof schemas.notDelivered>["reason"],
  error: string,
): InferOutput<typeof schemas.entryNotDelivered> {
  const { envelope_id, ...said } = notDeliveredToWire(result, reason, error);
  return result.unsent === true ? said : { ...said, envelope_id };
}

/** `cap` is where counting stopped. */
export function summaryToWire(count: number, cap: number): InferOutput<typeof schemas.summary> {
  return { configured: true, count: Math.min(count, cap), count_capped: count >= cap };
}

export function entryHeadToWire(head: DeadLetterHead): InferOutput<typeof schemas.entryHead> {
  return {
    id: head.id,
    route_id: head.routeId,
    binding_id: head.bindingId,
    source_id: head.sourceId,
    correlation_id: head.correlationId,
    subject: head.subject,
    reason: head.reason,
    category: head.category,
    error_code: head.errorCode,
    last_error: head.lastError,
    failed_at: formatTimestamp(head.failedAt),
    attempts: head.attempts,
    envelope_id: head.envelopeId,
    payload_bytes: head.payloadBytes,
    fingerprint: head.fingerprint,
    ...(head.causationId !== undefined && { causation_id: head.causationId }),
    ...marksToWire(head),
  };
}

type MarksOnWire = Pick<InferOutput<typeof schemas.entryHead>, "redrives" | "assignee" | "quarantined" | "notes">;

/** `redrives` counts those before the entry was written, which it came out of, and those after, which have marked it. */
function marksToWire({ redrives: before = 0, marks = {} }: DeadLetterHead): MarksOnWire {
  const { redrives: after, assignee, quarantined, notes } = marks;
  const count = before + (after?.count ?? 0);
  return {
    ...(count > 0 && {
      redrives: {
        count,
        ...(after !== undefined && {
          last_at: formatTimestamp(after.lastAt),
          last_code: after.lastCode,
          last_error: after.lastError,
          ...(after.jobId !== undefined && { job_id: after.jobId }),
        }),
      },
    }),
    ...(assignee !== undefined && { assignee }),
    ...(quarantined && { quarantined }),
    ...(notes !== undefined && { notes: notes.map(({ at, by, text }) => ({ at: formatTimestamp(at), by, text })) }),
  };
}

export function entryToWire(entry: DeadLetter, shown: ShownMessage): InferOutput<typeof schemas.entry> {
  const { headers, payload, payloadSha256, redacted } = shown;
  return {
    ...entryHeadToWire(deadLetterHead(entry)),
    // As a string it would be there three times, and a turn of the event loop would not be enough for it.
    ...(payload !== undefined && { payload: new Base64Text(payload) as unknown as string }),
    ...(payloadSha256 !== undefined && { payload_sha256: payloadSha256 }),
    ...(redacted && { redacted }),
    envelope: envelopeToWire(entry.envelope, headers),
  };
}

export function envelopeToWire(
  envelope: Envelope,
  headers: Envelope["headers"],
): InferOutput<typeof schemas.entry>["envelope"] {
  return {
    id: envelope.id,
    source_id: envelope.sourceId,
    subject: envelope.subject,
    content_type: envelope.contentType,
    headers: { ...headers },
    correlation_id: envelope.correlationId,
    received_at: formatTimestamp(envelope.receivedAt),
    ...(envelope.expiresAt !== undefined && { expires_at: formatTimestamp(envelope.expiresAt) }),
  };
}

export function outboxSummaryToWire(
  backlog: readonly OutboxBacklog[],
  isConfigured: (line: OutboxBacklog) => boolean,
  now: number,
): InferOutput<typeof schemas.outboxSummary> {
  return {
    depth: backlog.reduce((sum, { depth }) => sum + depth, 0),
    bindings: backlog.map((line) => ({
      route_id: line.routeId,
      binding_id: line.bindingId,
      configured: isConfigured(line),
      depth: line.depth,
      oldest_created_at: formatTimestamp(line.oldestCreatedAt),
      oldest_age_ms: Math.max(0, now - line.oldestCreatedAt),
      blocked_keys: line.blockedKeys,
    })),
  };
}

/** `found` has one record more than the page when there are more. */
export function outboxPageToWire(
  found: readonly OutboxHead[],
  { limit, offset }: Page,
  showsAddress: (head: OutboxHead) => boolean,
): InferOutput<typeof schemas.outboxPage> {
  return {
    messages: found.slice(0, limit).map((head) => outboxHeadToWire(head, showsAddress(head))),
    limit,
    offset,
    has_more: found.length > limit,
  };
}

/** `found` has one key more than are shown when there are more. */
export function blockedKeysToWire(
  found: readonly BlockedKey[],
  limit: number,
): InferOutput<typeof schemas.blockedKeys> {
  const keys = found.slice(0, limit).map((key) => ({
    route_id: key.routeId,
    binding_id: key.bindingId,
    ordering_key: key.orderingKey,
    depth: key.depth,
    oldest_id: key.oldestId,
    attempts: key.attempts,
    due_at: formatTimestamp(key.dueAt),
    blocked_since: formatTimestamp(key.oldestCreatedAt),
  }));
  return { keys, has_more: found.length > limit };
}

function outboxHeadToWire(head: OutboxHead, showsAddress: boolean): InferOutput<typeof schemas.outboxRecord> {
  return {
    id: head.id,
    route_id: head.routeId,
    binding_id: head.bindingId,
    envelope_id: head.envelopeId,
    subject: head.subject,
    address: showsAddress ? head.address : REDACTED,
    ...(head.orderingKey !== undefined && { ordering_key: head.orderingKey }),
    created_at: formatTimestamp(head.createdAt),
    due_at: formatTimestamp(head.dueAt),
    attempts: head.attempts,
    in_flight: head.lent,
  };
}
