/**
 * What an operator changes of a dead letter before it is sent again. @module
 */
import { hash } from "node:crypto";
import { INGRESS_LIMITS } from "@bridge/core";
import { REDACTED } from "@bridge/config";
import { HttpError } from "@bridge/http-kit";
import { type DeadLetter, type Envelope, isReserved, type MessageHeaders, newHeaders, RESERVED } from "@bridge/ports";
import * as v from "valibot";
import { list } from "./bounded-list.ts";
import { LIMITS } from "./limits.ts";
import { sizeOfHeaders, withinHeaderLimits } from "./header-limits.ts";
import { base64, prose, stringMap, text } from "./values.ts";

/** The name under which an edit has the ordering key, whose own header is reserved. */
const ORDERING_KEY = "ordering-key";
/** A part of a message of its own: a header of this name goes out nowhere that has one for it. */
const CONTENT_TYPE = "content-type";
const REDACTED_BYTES = Buffer.from(REDACTED);

const headerNames = v.pipe(
  list(text("The name of a header.", INGRESS_LIMITS.headerSize), INGRESS_LIMITS.headers, {
    expected: "expected a list of names",
    tooMany: `has more than ${INGRESS_LIMITS.headers} names`,
  }),
  v.description(`Headers that are left out; \`${ORDERING_KEY}\`: the message has no ordering key.`),
  v.check((names) => !names.some(isReserved), "names of the bridge's own headers cannot be given"),
);

export const editBody = v.strictObject({
  reason: prose("Why, for the audit log.", LIMITS.reasonLength),
  subject: v.optional(text("The subject that is sent.", INGRESS_LIMITS.subjectLength)),
  content_type: v.optional(
    v.pipe(
      v.string("expected a string"),
      v.description("The content type that is sent; empty: none."),
      v.maxLength(LIMITS.messageText, `has more than ${LIMITS.messageText} characters`),
    ),
  ),
  payload: v.optional(
    v.pipe(
      base64("The payload that is sent."),
      v.check((payload) => !REDACTED_BYTES.equals(payload), `is ${REDACTED}: give what is to be sent`),
    ),
  ),
  headers: v.optional(
    v.pipe(
      stringMap(`Headers that are set or changed; \`${ORDERING_KEY}\` is the ordering key.`),
      v.metadata({ maxProperties: INGRESS_LIMITS.headers }),
      ...withinHeaderLimits,
      v.check((headers) => !Object.keys(headers).some(isReserved), "the bridge's own headers cannot be given"),
      v.check((headers) => !Object.hasOwn(headers, ""), "a name is empty"),
      v.check(
        (headers) => !Object.keys(headers).some((name) => name.toLowerCase() === CONTENT_TYPE),
        `${CONTENT_TYPE} is no header of a message: give content_type`,
      ),
      v.check(
        (headers) => !Object.values(headers).includes(REDACTED),
        `a value is ${REDACTED}: give what is to be sent, or leave the header out`,
      ),
    ),
  ),
  remove_headers: v.optional(headerNames),
  binding_id: v.optional(text("The binding that it goes to, in place of the one that failed.", LIMITS.idLength)),
});

export type Edit = v.InferOutput<typeof editBody>;

/** Whether more is asked for than another delivery. */
export function isEdit(edit: Edit): boolean {
  return Object.keys(edit).some((field) => field !== "reason");
}

/** @throws HttpError 400 when what comes of it would be no message, or was made of one that was shown redacted */
export function edited(entry: DeadLetter, edit: Edit): DeadLetter {
  const { envelope } = entry;
  const { subject = envelope.subject, content_type: contentType = envelope.contentType } = edit;
  const payload = edit.payload ?? envelope.payload;
  if (holdsRedacted(payload) && !holdsRedacted(envelope.payload))
    throw invalid(`payload: holds ${REDACTED}, which the entry does not: give what is to be sent`);
  const headers = editedHeaders(envelope.headers, edit);
  return {
    ...entry,
    bindingId: edit.binding_id ?? entry.bindingId,
    envelope: { ...envelope, subject, contentType, payload, headers },
  };
}

/** Words for the parts that differ. */
export function changedParts(before: DeadLetter, after: DeadLetter): readonly string[] {
  const [was, is] = [before.envelope, after.envelope];
  const parts: readonly (readonly [string, boolean])[] = [
    ["subject", was.subject !== is.subject],
    ["content_type", was.contentType !== is.contentType],
    ["payload", !Buffer.from(was.payload).equals(is.payload)],
    ["headers", ownHeaders(was) !== ownHeaders(is)],
    [ORDERING_KEY, was.headers[RESERVED.orderingKey] !== is.headers[RESERVED.orderingKey]],
    ["binding_id", before.bindingId !== after.bindingId],
  ];
  return parts.filter(([, differs]) => differs).map(([name]) => name);
}

/** To compare them by. */
function ownHeaders({ headers }: Pick<Envelope, "headers">): string {
  return JSON.stringify({ ...headers, [RESERVED.orderingKey]: undefined });
}

/** For audit records, which show no payload. */
export function payloadFacts({ envelope: { payload } }: DeadLetter) {
  return { bytes: payload.length, sha256: hash("sha256", payload) };
}

function editedHeaders(before: MessageHeaders, { headers = {}, remove_headers = [] }: Edit): MessageHeaders {
  unambiguous(Object.keys(headers), remove_headers);
  const after = Object.assign(newHeaders(), before);
  for (const name of remove_headers) delete after[ownName(name)];
  for (const [name, value] of Object.entries(headers)) after[ownName(name)] = value;
  if (after[RESERVED.orderingKey] === "") delete after[RESERVED.orderingKey];
  const { length } = after[RESERVED.orderingKey] ?? "";
  if (length > INGRESS_LIMITS.idLength)
    throw invalid(`headers: ${ORDERING_KEY} has more than ${INGRESS_LIMITS.idLength} characters`);
  const given = Object.fromEntries(Object.entries(after).filter(([name]) => !isReserved(name)));
  if (Object.keys(given).length > INGRESS_LIMITS.headers)
    throw invalid(`headers: the message would have more than ${INGRESS_LIMITS.headers}`);
  if (sizeOfHeaders(given) > INGRESS_LIMITS.headerSize)
    throw invalid(`headers: the message would have more than ${INGRESS_LIMITS.headerSize} characters of them`);
  return after;
}

/** Which of two that contradict each other counts would be known to nobody. @throws HttpError 400 */
function unambiguous(set: readonly string[], removed: readonly string[]): void {
  const names = set.map(ownName);
  if (new Set(names).size < names.length) throw invalid("headers: one is given twice, in different case");
  if (removed.some((name) => names.includes(ownName(name))))
    throw invalid("remove_headers: one is among headers, too: set it or leave it out");
}

function ownName(name: string): string {
  const lower = name.toLowerCase();
  return lower === ORDERING_KEY ? RESERVED.orderingKey : lower;
}

function holdsRedacted(payload: Uint8Array): boolean {
  return Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).includes(REDACTED_BYTES);
}

function invalid(problem: string): HttpError {
  return new HttpError(400, `invalid request body: ${problem}`);
}
