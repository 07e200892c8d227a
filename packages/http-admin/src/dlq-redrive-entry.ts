import type { InjectResult, RedrivenEntry } from "@bridge/core";
import { OperationError } from "@bridge/core";
import { HttpError } from "@bridge/http-kit";
import type { DeadLetter } from "@bridge/ports";
import { deadline } from "@bridge/ports/internal";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import type { BridgeAccess } from "./bridge-access.ts";
import { changedParts, edited, type Edit, editBody, isEdit, payloadFacts } from "./dlq-edit.ts";
import { explain, REASONS } from "./not-delivered.ts";
import { entryNotDelivered, notRedriven, redrivenEntry } from "./schemas.ts";
import { entryNotDeliveredToWire } from "./wire.ts";

const GONE = "the entry is gone: somebody has deleted or redriven it meanwhile, and nothing was written";
/** Nothing is written to the DLQ: the entry is there. */
const KEPT = { ...REASONS, dead_lettered: "the entry stays in the DLQ" } as const;

type Refused = Exclude<RedrivenEntry, { readonly kind: "redriven" | "not_delivered" }>;

/** Delivering one dead letter again, edited or not (operators 4). */
export function dlqRedriveEntryEndpoint(
  bridge: BridgeAccess,
  { timeoutMs, replayTimeoutMs }: { readonly timeoutMs: number; readonly replayTimeoutMs: number },
): AdminEndpoint {
  return endpoint({
    method: "POST",
    path: "/api/v1/admin/dlq/messages/{id}/redrive",
    access: "admin",
    needs: "any",
    needsFor: [
      { permission: "dlq.redrive", when: (body) => !isEdit(body) },
      { permission: "dlq.edit", when: isEdit },
    ],
    audit: "dlq.edit",
    begin: { action: "dlq.edit.begin", detail: (body) => askedFor(bridge, body) },
    resourceId: ({ id }) => id,
    summary: "Delivers one entry again, as it is or edited, and deletes it once that is confirmed.",
    params: { id: "The id of the entry." },
    guard: () => {
      void bridge.running;
      void bridge.dlqAdmin;
      void bridge.dlqMarks;
    },
    body: editBody,
    refusals: {
      404: "There is no such entry, route or binding, or no DLQ store that can do that.",
      500: "It is not known what became of it, it waits in the outbox, or it was delivered and not deleted.",
      503: "No runtime runs, or the DLQ store is not open, or cannot be used: nothing was sent.",
    },
    answers: {
      409: { description: "Nothing was done with it, or it is gone; `reason` says why.", schema: notRedriven },
      200: { description: "It was delivered and the entry is deleted.", schema: redrivenEntry },
      422: {
        description: "The route settled it without delivering it: the entry stays as it was.",
        schema: entryNotDelivered,
      },
    },
  }).handle(async ({ params: { id }, body }) => {
    using limit = deadline(bridge.clock, timeoutMs, new Error(`the redrive was not done after ${timeoutMs} ms`));
    let edits: ReturnType<typeof factsOf> | undefined;
    const edit = (entry: DeadLetter): DeadLetter => {
      const sent = edited(entry, body);
      knownBinding(bridge, sent, body);
      edits = factsOf(entry, sent);
      return sent;
    };
    const detail = () => ({ ...askedFor(bridge, body), ...edits });
    let result: RedrivenEntry;
    try {
      result = await bridge.running.redriveEntry(id, { edit, replayTimeoutMs }, limit.signal);
    } catch (thrown) {
      // What the engine does not say itself is the store's: the entry could not be read, and nothing has begun.
      throw paused(thrown) ?? bridge.away("DLQ", thrown) ?? thrown;
    }
    if (result.kind === "not_delivered") return notDeliveredReply(result.result, detail());
    if (result.kind !== "redriven") throw refusalOf(result, detail());
    const { warning } = result;
    const said = { status: "redriven", entry_id: id, ...named(result.envelopeId) } as const;
    return {
      status: 200,
      body: { ...said, ...(warning !== undefined && { warning }) },
      audit: { detail: { ...detail(), ...named(result.envelopeId) } },
    };
  });
}

function notDeliveredReply(result: InjectResult, detail: object) {
  const { outcome } = result;
  if (outcome === "delivered" || outcome === "duplicate") throw new Error(`${outcome} is no failure`);
  const body = entryNotDeliveredToWire(result, outcome, explain(result, KEPT[outcome]));
  return {
    status: 422 as const,
    body,
    audit: { outcome: "not_delivered" as const, detail: { ...detail, ...named(body.envelope_id), settled: outcome } },
  };
}

/** Says what came of it to programs too. */
function refusalOf(refused: Refused, detail: object): HttpError {
  const told = (status: number, message: string, fields: Readonly<Record<string, string>> = {}): HttpError =>
    new HttpError(status, message, {}, { fields, detail: { ...detail } });
  switch (refused.kind) {
    case "missing":
      return told(404, "DLQ entry not found");
    case "quarantined":
      return told(409, "entry is quarantined", { reason: "quarantined" });
    case "gone": {
      const { envelopeId, unsent } = refused.result;
      const id = unsent === true ? undefined : envelopeId;
      return told(409, explain(refused.result, GONE), { reason: "gone", ...named(id) });
    }
    case "busy":
      return told(409, "entry already redriven or concurrently deleted", {
        reason: "busy",
        ...named(refused.envelopeId),
      });
    case "not_deleted":
      return told(500, "delivered, entry not deleted: redrive it again, which deletes it and sends nothing");
  }
}

/** Nothing is named that was not sent. */
function named(envelopeId: string | undefined): { readonly envelope_id?: string } {
  return envelopeId === undefined ? {} : { envelope_id: envelopeId };
}

function paused(thrown: unknown): HttpError | undefined {
  const isPaused = thrown instanceof OperationError && thrown.kind === "conflict";
  return isPaused ? new HttpError(409, thrown.message, {}, { fields: { reason: "paused" } }) : undefined;
}

/** @throws HttpError 400 for a binding that the route has not; a route that is not there is told by the engine */
function knownBinding(bridge: BridgeAccess, { routeId }: DeadLetter, { binding_id }: Edit): void {
  const route = bridge.supervisor.config().routes.find(({ id }) => id === routeId);
  if (binding_id === undefined || route === undefined || route.bindings.includes(binding_id)) return;
  const problem = `invalid request body: binding_id: route ${routeId} has no binding`;
  throw new HttpError(400, [problem, { sent: ` ${binding_id}` }]);
}

/** For audit records: what was asked for, without what was given, but for a binding that there is. */
function askedFor(bridge: BridgeAccess, { reason, binding_id, ...edit }: Edit) {
  const given = [...Object.keys(edit), ...(binding_id === undefined ? [] : ["binding_id"])];
  const isKnown = bridge.supervisor.config().routes.some(({ bindings }) => bindings.includes(binding_id ?? ""));
  return { reason, given, ...(isKnown && { binding_id }) };
}

/** For audit records: which parts have changed, and what the payload was and is. */
function factsOf(before: DeadLetter, after: DeadLetter) {
  const was = payloadFacts(before);
  const isSame = before.envelope.payload === after.envelope.payload;
  return {
    route_id: before.routeId,
    changed: changedParts(before, after),
    payload_before: was,
    payload_after: isSame ? was : payloadFacts(after),
  };
}
