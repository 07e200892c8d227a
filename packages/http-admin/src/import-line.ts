import { deadLetterId, INGRESS_LIMITS } from "@bridge/core";
import { REDACTED } from "@bridge/config";
import { decodeLine } from "@bridge/http-kit";
import {
  type DeadLetter,
  type Envelope,
  ERROR_CODES,
  type ErrorCode,
  isReserved,
  type MessageHeaders,
  newHeaders,
  RESERVED,
} from "@bridge/ports";
import { formatTimestamp } from "@bridge/ports/internal";
import * as v from "valibot";
import { LINE_VERSION } from "./entry-line.ts";
import { sizeOfHeaders } from "./header-limits.ts";
import { LIMITS } from "./limits.ts";
import { base64, category, stringMap, text, timestamp } from "./values.ts";

/** What one line says. */
export type ImportedLine =
  | { readonly kind: "entry"; readonly entry: DeadLetter }
  | { readonly kind: "end"; readonly count: number; readonly sha256: string }
  | { readonly kind: "wrong"; readonly problem: string };

const CODES = Object.keys(ERROR_CODES) as readonly ErrorCode[];
const LAST_ERROR_LENGTH = 8_192;
const count = v.pipe(v.number("expected an integer"), v.safeInteger("expected an integer"), v.minValue(0));
/** Of a line, and told anew: what it says of it counts for nothing. */
const ignored = v.optional(v.unknown());

function short(max: number) {
  return v.pipe(v.string("expected a string"), v.maxLength(max, `has more than ${max} characters`));
}

function named(max: number) {
  return v.pipe(short(max), v.nonEmpty("must not be empty"));
}

const entry = v.strictObject({
  id: text("", LIMITS.idLength),
  route_id: named(LIMITS.idLength),
  binding_id: short(LIMITS.idLength),
  reason: short(LAST_ERROR_LENGTH),
  category: category(""),
  error_code: v.picklist(CODES, `expected one of ${CODES.join(", ")}`),
  last_error: short(LAST_ERROR_LENGTH),
  failed_at: timestamp(""),
  attempts: count,
  causation_id: v.optional(named(INGRESS_LIMITS.idLength)),
  // Those of the envelope count.
  source_id: ignored,
  correlation_id: ignored,
  subject: ignored,
  envelope_id: ignored,
  payload_bytes: ignored,
  fingerprint: ignored,
  redrives: ignored,
  assignee: ignored,
  quarantined: ignored,
  notes: ignored,
});

const headers = v.pipe(
  stringMap(""),
  v.transform((given): MessageHeaders => {
    const kept = newHeaders();
    for (const [name, value] of Object.entries(given)) if (!isReserved(name)) kept[name.toLowerCase()] = value;
    return kept;
  }),
  v.check(
    (kept) => Object.keys(kept).length <= INGRESS_LIMITS.headers,
    `has more than ${INGRESS_LIMITS.headers} headers`,
  ),
  v.check(
    (kept) => sizeOfHeaders(kept) <= INGRESS_LIMITS.headerSize,
    `has more than ${INGRESS_LIMITS.headerSize} characters in all`,
  ),
  v.check((kept) => !Object.values(kept).includes(REDACTED), `a value is ${REDACTED}: it is not the message's`),
);

const envelope = v.strictObject({
  id: named(INGRESS_LIMITS.idLength),
  source_id: named(INGRESS_LIMITS.idLength),
  subject: short(INGRESS_LIMITS.subjectLength),
  content_type: short(INGRESS_LIMITS.contentTypeLength),
  headers,
  correlation_id: named(INGRESS_LIMITS.idLength),
  received_at: timestamp(""),
  expires_at: v.optional(timestamp("")),
  ordering_key: v.optional(named(INGRESS_LIMITS.idLength)),
});

const SHOWN_IN_PART = "does not show all of its entry: export it with payload=true and the permission payload.raw";
const never = (message: string) => v.optional(v.never(message));
const version = v.literal(LINE_VERSION, `expected ${LINE_VERSION}`);

const entryLine = v.strictObject({
  v: version,
  entry,
  envelope,
  payload: base64(""),
  redacted: never(SHOWN_IN_PART),
  payload_sha256: never(SHOWN_IN_PART),
});

/** Nothing else of it counts: there may be no envelope, and what stands in place of the entry need be none. */
const unreadableLine = v.looseObject({ error: v.unknown() });
const UNREADABLE = "error: its entry could not be read when it was exported";

const endLine = v.strictObject({
  v: version,
  end: v.literal(true, "expected true"),
  count,
  sha256: v.pipe(v.string("expected a string"), v.regex(/^[0-9a-f]{64}$/, "expected 64 hexadecimal digits")),
  warning: ignored,
});

/** Reads one line, without its end, whose entry has failed up to `latest`, in epoch milliseconds: exports and jobs do not see a later one. */
export function readLine(bytes: Uint8Array, latest: number): ImportedLine {
  const read = decodeLine(bytes, schemaOf);
  if ("problem" in read) return { kind: "wrong", problem: read.problem };
  const { value } = read;
  if ("error" in value) return { kind: "wrong", problem: UNREADABLE };
  if ("end" in value) return { kind: "end", count: value.count, sha256: value.sha256 };
  const made = entryOf(value);
  if (made.failedAt > latest)
    return {
      kind: "wrong",
      problem: `entry.failed_at: ${formatTimestamp(made.failedAt)} is in the future: give a time up to ${formatTimestamp(latest)}`,
    };
  const isSame = made.id === deadLetterId(made.routeId, made.bindingId, made.envelope);
  return isSame ? { kind: "entry", entry: made } : { kind: "wrong", problem: "id does not match the content" };
}

function schemaOf(line: object): typeof endLine | typeof unreadableLine | typeof entryLine {
  if ("end" in line) return endLine;
  return "error" in line ? unreadableLine : entryLine;
}

function entryOf({ entry: told, envelope: inner, payload }: v.InferOutput<typeof entryLine>): DeadLetter {
  const received: Envelope = {
    id: inner.id,
    sourceId: inner.source_id,
    subject: inner.subject,
    contentType: inner.content_type,
    headers: ordered(inner.headers, inner.ordering_key),
    payload,
    correlationId: inner.correlation_id,
    receivedAt: inner.received_at,
    ...(inner.expires_at !== undefined && { expiresAt: inner.expires_at }),
  };
  return {
    id: told.id,
    routeId: told.route_id,
    bindingId: told.binding_id,
    sourceId: received.sourceId,
    correlationId: received.correlationId,
    subject: received.subject,
    reason: told.reason,
    category: told.category,
    errorCode: told.error_code,
    lastError: told.last_error,
    failedAt: told.failed_at,
    attempts: told.attempts,
    ...(told.causation_id !== undefined && { causationId: told.causation_id }),
    envelope: received,
  };
}

function ordered(own: MessageHeaders, orderingKey: string | undefined): MessageHeaders {
  return orderingKey === undefined ? own : Object.assign(newHeaders(), own, { [RESERVED.orderingKey]: orderingKey });
}
