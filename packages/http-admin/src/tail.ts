import { DISPOSITIONS, type Tap, type TapOptions, type TappedBatch, type TappedMessage } from "@bridge/core";
import { type Caller, EventStream, HttpError, type StreamEvent, streamAnswer } from "@bridge/http-kit";
import { formatTimestamp } from "@bridge/ports/internal";
import * as v from "valibot";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import type { BridgeAccess } from "./bridge-access.ts";
import { LIMITS } from "./limits.ts";
import type { Redaction } from "./redaction.ts";
import { filterValue, queryDuration, queryInteger } from "./values.ts";

const OUTCOMES = [...DISPOSITIONS, "persisted"] as const;
const outcome = v.picklist(OUTCOMES);
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const tailQuery = v.object({
  sample: v.optional(queryInteger("Shows one message in so many.", 1, 1_000_000), "1"),
  rate: v.optional(queryInteger("Shows at most so many messages a second.", 1, LIMITS.tailRateMax), "50"),
  duration: v.optional(queryDuration("Ends after this.", LIMITS.tailMaxMs), "5m"),
  payload: v.optional(
    v.pipe(
      v.picklist(["none", "preview", "full"]),
      v.description("How much of payloads is shown: nothing, the first KiB, the first 64 KiB."),
    ),
    "none",
  ),
  outcome: v.optional(v.pipe(outcome, v.description("Only messages that have ended so."))),
  subject_prefix: filterValue("Only messages whose subject begins so."),
});

/** A message that was settled. */
export const tailedMessage = v.object({
  at: v.pipe(v.string(), v.metadata({ format: "date-time" }), v.description("When it was settled.")),
  envelope_id: v.string(),
  subject: v.string(),
  content_type: v.string(),
  headers: v.pipe(v.optional(v.record(v.string(), v.string())), v.description("With `payload.read`.")),
  header_names: v.pipe(v.optional(v.array(v.string())), v.description("Without `payload.read`.")),
  payload_bytes: v.pipe(count, v.description("Of the whole payload.")),
  payload: v.optional(v.pipe(v.string(), v.metadata({ contentEncoding: "base64" }))),
  redacted: v.optional(v.pipe(v.literal(true), v.description("You are not shown all that there is to see of it."))),
  outcome,
  bindings: v.array(
    v.object({
      id: v.string(),
      outcome,
      attempts: v.pipe(count, v.description("0: none was tried before it was settled, as with an outbox.")),
      ms: v.number(),
    }),
  ),
  ms: v.pipe(v.number(), v.description("From its receipt until it was settled.")),
});

export const tailedLost = v.object({
  count: v.pipe(count, v.description("Messages that are not shown: there were too many, or you read too slowly.")),
});

/** Looking on while a route settles messages. */
export function tailEndpoint(bridge: BridgeAccess, redaction: Redaction): AdminEndpoint {
  return endpoint({
    method: "GET",
    path: "/api/v1/admin/routes/{routeID}/tail",
    access: "admin",
    needsFor: [{ permission: "payload.read", parameter: "payload", but: "none" }],
    audit: "route.tail",
    begin: { action: "route.tail.begin", detail: (_body, query) => ({ query }) },
    resourceId: ({ routeID }) => routeID,
    summary: "Messages of a route, each once, when it is settled.",
    params: { routeID: "The id of the route." },
    query: tailQuery,
    guard: ({ routeID }) => {
      if (!bridge.supervisor.config().routes.some(({ id }) => id === routeID))
        throw new HttpError(404, "route not found");
    },
    refusals: { 404: "There is no such route.", 503: "The process has no bridge yet." },
    stream: { kind: "tail", most: LIMITS.tails, events: { message: tailedMessage, lost: tailedLost } },
    answers: { 200: streamAnswer("Messages, until the duration is over.") },
  }).handle(({ params: { routeID }, query, caller }) => {
    const { sample, rate, duration: durationMs, payload, outcome: only, subject_prefix: subjectPrefix } = query;
    const options: TapOptions = { sample, rate, durationMs, payload, outcome: only, subjectPrefix };
    const began = bridge.clock.monotonic();
    const told = { shown: 0, lost: 0 };
    let taken: Tap | undefined;
    const body = new EventStream({
      events: async function* (signal, lost) {
        using tap = bridge.supervisor.tap(routeID, options);
        taken = tap;
        for (;;) {
          const batch = await tap.next(signal);
          [told.shown, told.lost] = [tap.shown, tap.lost];
          if (batch === undefined) return;
          if (batch.lost > 0) lost(batch.lost);
          yield eventsOf(batch, (message) => tailedToWire(message, caller, redaction));
        }
      },
      used: (use) => taken?.used(use),
      ended: () => ({ ...told, seconds: Math.round((bridge.clock.monotonic() - began) / 1_000) }),
    });
    return { status: 200, body };
  });
}

/** One at a time, for a large message takes long to look through. */
function* eventsOf(
  { messages, lost }: TappedBatch,
  toWire: (message: TappedMessage) => object,
): Generator<StreamEvent> {
  for (const message of messages) yield { event: "message", data: toWire(message) };
  if (lost > 0) yield { event: "lost", data: { count: lost } };
}

const NOTHING = new Uint8Array();

/** What is only a part of JSON cannot be looked through, and is hidden whole from those who may not see all of it. */
function tailedToWire(
  message: TappedMessage,
  caller: Caller,
  redaction: Redaction,
): v.InferOutput<typeof tailedMessage> {
  const { payload: tapped = NOTHING, headers } = message;
  const { payload, headers: values, redacted } = redaction.show({ headers, payload: tapped }, caller);
  const seesValues = caller.permissions.includes("payload.read");
  const shown = message.payload === undefined ? undefined : payload;
  // Each member always there, if only as `undefined`: all of one shape are made and written in half the time.
  return {
    at: formatTimestamp(message.at),
    envelope_id: message.envelopeId,
    subject: message.subject,
    content_type: message.contentType,
    headers: seesValues ? { ...values } : undefined,
    header_names: seesValues ? undefined : Object.keys(headers),
    payload_bytes: message.payloadBytes,
    payload: shown && Buffer.from(shown.buffer, shown.byteOffset, shown.byteLength).toString("base64"),
    redacted: seesValues && redacted ? true : undefined,
    outcome: message.outcome,
    bindings: message.legs.map((leg) => ({
      id: leg.bindingId,
      outcome: leg.outcome,
      attempts: leg.attempts,
      ms: tenths(leg.ms),
    })),
    ms: tenths(message.ms),
  };
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}
