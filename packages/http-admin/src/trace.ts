import { DISPOSITIONS, type InFlightPlace, type Whereabouts } from "@bridge/core";
import { HttpError } from "@bridge/http-kit";
import type { DeadLetterHead, OutboxHead } from "@bridge/ports";
import { deadline, formatTimestamp, orAborted } from "@bridge/ports/internal";
import * as v from "valibot";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import type { BridgeAccess } from "./bridge-access.ts";
import { findDeadLetters, findOutboxRecords } from "./find-message.ts";
import { entryHead } from "./schemas.ts";
import { entryHeadToWire } from "./wire.ts";

const LATE = "a store did not answer";
/** How long stores are waited for by somebody who is told what the process itself knows. */
const LOOK_MS = 5_000;
const MAX_ID = 1_024;
const time = v.pipe(v.string(), v.metadata({ format: "date-time" }));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const leg = { route_id: v.string(), binding_id: v.string() } as const;

const place = v.variant("where", [
  v.object({
    where: v.literal("in_flight"),
    ...leg,
    since: time,
    attempts: v.pipe(count, v.description("Sends of the message that this instance has tried, to any binding.")),
  }),
  v.object({ where: v.literal("outbox"), id: v.string(), ...leg, attempts: count, due_at: time }),
  v.object({ where: v.literal("dlq"), entry: entryHead }),
  v.object({ where: v.literal("recent"), ...leg, outcome: v.picklist(DISPOSITIONS), at: time }),
  v.object({
    where: v.literal("redriven_as"),
    envelope_id: v.string(),
    job_id: v.pipe(v.optional(v.string()), v.description("The job that did.")),
  }),
]);

const recent = v.object({
  legs: v.pipe(count, v.description("How many ends of legs this instance remembers; 0: none.")),
  since: v.pipe(time, v.description("Whatever has ended since, is there.")),
});

export const messageTrace = v.object({
  envelope_id: v.string(),
  found: v.boolean(),
  places: v.pipe(v.array(place), v.description("Those of stores are of all instances, the others of this one.")),
  recent,
  complete: v.pipe(v.boolean(), v.description("False: a store was looked at in part, or could not be asked.")),
});

export const correlatedMessages = v.object({
  correlation_id: v.string(),
  found: v.boolean(),
  places: v.array(place),
  complete: messageTrace.entries.complete,
});

type Place = v.InferOutput<typeof place>;

/** Where a message is. No answer has a payload or a header. */
export function traceEndpoints(bridge: BridgeAccess): readonly AdminEndpoint[] {
  const guard = (): void => void bridge.supervisor;
  return [
    endpoint({
      method: "GET",
      path: "/api/v1/admin/messages/{envelopeID}",
      access: "admin",
      audit: "message.trace",
      resourceId: ({ envelopeID }) => envelopeID,
      summary: "Where a message is, or was not long ago.",
      params: { envelopeID: "The id of the envelope." },
      guard: ({ envelopeID }) => {
        guard();
        if (envelopeID.length > MAX_ID)
          throw new HttpError(400, `the envelope id has more than ${MAX_ID} characters: no message has a longer one`);
      },
      refusals: { 503: "The process has no bridge yet." },
      answers: { 200: { description: "What is known of it; nothing, if it is not found.", schema: messageTrace } },
    }).handle(async ({ params: { envelopeID } }) => ({ status: 200, body: await traceOf(bridge, envelopeID) })),

    endpoint({
      method: "GET",
      path: "/api/v1/admin/messages",
      access: "admin",
      audit: "message.trace",
      summary:
        "Where messages of one correlation id are; outboxes do not tell it, so only dead letters are found. Or where one message is.",
      query: v.object({
        correlation_id: queriedId("Which messages."),
        envelope_id: queriedId(
          "Which message, in place of them: the way to one whose id is `.` or `..`, which clients take out of a path.",
        ),
      }),
      guard,
      refusals: { 503: "The process has no bridge yet, or the DLQ cannot be used." },
      answers: {
        200: { description: "What is known of them, or of it.", schema: v.union([correlatedMessages, messageTrace]) },
      },
    }).handle(async ({ query: { correlation_id: correlationId, envelope_id: envelopeId } }) => {
      if ((correlationId === "") === (envelopeId === ""))
        throw new HttpError(400, "invalid query: give either correlation_id or envelope_id");
      if (envelopeId !== "") return { status: 200, body: await traceOf(bridge, envelopeId) };
      const { places, complete } = await inDlq(bridge, correlationId);
      return { status: 200, body: { correlation_id: correlationId, found: places.length > 0, places, complete } };
    }),
  ];
}

function queriedId(description: string) {
  return v.pipe(
    v.optional(v.pipe(v.string(), v.maxLength(MAX_ID, `has more than ${MAX_ID} characters`)), ""),
    v.description(description),
  );
}

async function traceOf(bridge: BridgeAccess, envelopeId: string): Promise<v.InferOutput<typeof messageTrace>> {
  // In the order in which a message moves, so that one on its way is seen before or behind its step.
  const { inFlight } = bridge.supervisor.whereabouts(envelopeId);
  const stored = await inStores(bridge, envelopeId);
  const here = bridge.supervisor.whereabouts(envelopeId);
  const places = [...inFlight.map(inFlightPlace), ...stored.places, ...pastPlaces(here)];
  const { legs, since } = here.remembers;
  return {
    envelope_id: envelopeId,
    found: places.length > 0,
    places,
    recent: { legs, since: formatTimestamp(since) },
    complete: stored.complete,
  };
}

interface Stored {
  readonly places: Place[];
  /** Whether everything was looked at. */
  readonly complete: boolean;
}

/** What the stores tell within a bound: one that does not answer, or refuses, has been looked at in part. Never rejects. */
async function inStores({ supervisor, clock, operationTimeoutMs }: BridgeAccess, envelopeId: string): Promise<Stored> {
  const { stores } = supervisor.config();
  const [dlq, outbox] = [supervisor.dlq(), supervisor.outbox()];
  const letters: DeadLetterHead[] = [];
  const records: OutboxHead[] = [];
  using bound = deadline(clock, Math.min(LOOK_MS, operationTimeoutMs), new Error(LATE));
  const { signal } = bound;
  const lookedAt = async (look: () => Promise<boolean>): Promise<boolean> =>
    orAborted(look(), signal).catch(() => false);
  const complete = await Promise.all([
    dlq === undefined
      ? isNowhere(stores.dlq)
      : lookedAt(async () => findDeadLetters(dlq, { envelopeId }, letters, signal)),
    outbox === undefined
      ? isNowhere(stores.outbox)
      : lookedAt(async () => findOutboxRecords(outbox, envelopeId, records, signal)),
  ]);
  return { places: [...records.map(outboxPlace), ...letters.map(dlqPlace)], complete: !complete.includes(false) };
}

/** Only the DLQ can tell, so that without it there is nothing to say. */
async function inDlq(bridge: BridgeAccess, correlationId: string): Promise<Stored> {
  const { supervisor } = bridge;
  const { stores } = supervisor.config();
  const dlq = supervisor.dlq();
  const letters: DeadLetterHead[] = [];
  const complete =
    dlq === undefined
      ? isNowhere(stores.dlq)
      : await bridge.looking("DLQ", (signal) => findDeadLetters(dlq, { correlationId }, letters, signal));
  return { places: letters.map(dlqPlace), complete: complete && isNowhere(stores.outbox) };
}

/** What is not open may hold it; what is not configured holds nothing. */
function isNowhere(configured: object | undefined): boolean {
  return configured === undefined;
}

function inFlightPlace({ routeId, bindingId, since, attempts }: InFlightPlace): Place {
  return { where: "in_flight", route_id: routeId, binding_id: bindingId, since: formatTimestamp(since), attempts };
}

function pastPlaces({ ended, redrivenAs }: Whereabouts): readonly Place[] {
  return [
    ...ended.map(({ routeId, bindingId, outcome, at }) => ({
      where: "recent" as const,
      route_id: routeId,
      binding_id: bindingId,
      outcome,
      at: formatTimestamp(at),
    })),
    ...redrivenAs.map(({ envelopeId, jobId }) => ({
      where: "redriven_as" as const,
      envelope_id: envelopeId,
      ...(jobId !== undefined && { job_id: jobId }),
    })),
  ];
}

function outboxPlace(head: OutboxHead): Place {
  return {
    where: "outbox",
    id: head.id,
    route_id: head.routeId,
    binding_id: head.bindingId,
    attempts: head.attempts,
    due_at: formatTimestamp(head.dueAt),
  };
}

function dlqPlace(head: DeadLetterHead): Place {
  return { where: "dlq", entry: entryHeadToWire(head) };
}
