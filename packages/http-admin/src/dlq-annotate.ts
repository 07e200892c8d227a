import type { MarkChange } from "@bridge/ports";
import * as v from "valibot";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import type { BridgeAccess } from "./bridge-access.ts";
import { DLQ_PART_REFUSALS } from "./dlq-refusals.ts";
import { LIMITS } from "./limits.ts";
import { annotated } from "./schemas.ts";
import { erasableProse, ids as idList, prose } from "./values.ts";

const annotateFields = v.strictObject({
  ids: idList("DLQ entries", LIMITS.annotateIds),
  note: v.optional(prose("A note, which is added to those that are there.", LIMITS.noteLength, { lines: true })),
  assignee: v.optional(erasableProse("Who works on them; empty: nobody.", LIMITS.assigneeLength)),
  quarantined: v.optional(
    v.pipe(v.boolean("expected true or false"), v.description("Whether they are kept back from redrives.")),
  ),
});

const annotateBody = v.pipe(
  annotateFields,
  v.check(
    ({ note, assignee, quarantined }) => note !== undefined || assignee !== undefined || quarantined !== undefined,
    "give note, assignee or quarantined",
  ),
  v.metadata({ anyOf: [{ required: ["note"] }, { required: ["assignee"] }, { required: ["quarantined"] }] }),
);

const UNSURE = "the entries may be marked or not: look at one before you repeat the call, which would add a note again";

/** What is asked for, for audit records: of a note only that there is one. */
function askedFor({ ids, note, assignee, quarantined }: v.InferOutput<typeof annotateFields>) {
  return {
    ids: [...new Set(ids)],
    ...(note !== undefined && { note: true }),
    ...(assignee !== undefined && { assignee }),
    ...(quarantined !== undefined && { quarantined }),
  };
}

/** What operators add to dead letters, also while the bridge is stopped. */
export function dlqAnnotateEndpoint(bridge: BridgeAccess): AdminEndpoint {
  return endpoint({
    method: "POST",
    path: "/api/v1/admin/dlq/annotate",
    access: "admin",
    needs: "dlq.annotate",
    audit: "dlq.annotate",
    begin: { action: "dlq.annotate.begin", detail: askedFor },
    summary: "Adds a note to entries, says who works on them, or keeps them back from redrives.",
    guard: () => void bridge.dlqMarks,
    body: annotateBody,
    refusals: DLQ_PART_REFUSALS,
    answers: { 200: { description: "How many of them were there.", schema: annotated } },
  }).handle(async ({ body, actor }) => {
    const { note, assignee, quarantined } = body;
    const at = bridge.clock.now();
    const change: MarkChange = {
      at,
      ...(note !== undefined && { note: { at, by: actor, text: note } }),
      ...(assignee !== undefined && { assignee }),
      ...(quarantined !== undefined && { quarantined }),
    };
    const changes = new Map(body.ids.map((id) => [id, change]));
    const { dlqMarks } = bridge;
    const there = await bridge.changing(UNSURE, (signal) => dlqMarks.mark(changes, signal));
    const asked = askedFor(body);
    return {
      status: 200,
      body: { annotated: there.size },
      audit: { detail: { ...asked, ids: [...there], requested: asked.ids.length, annotated: there.size } },
    };
  });
}
