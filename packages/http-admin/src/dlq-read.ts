import { HttpError } from "@bridge/http-kit";
import * as v from "valibot";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import type { BridgeAccess } from "./bridge-access.ts";
import { DLQ_REFUSALS, LATE } from "./dlq-refusals.ts";
import { LIMITS } from "./limits.ts";
import { entry, entryPage, summary } from "./schemas.ts";
import { category, filterValue, pageQuery, timestamp } from "./values.ts";
import { entryToWire, filterFromWire, pageToWire, summaryToWire } from "./wire.ts";

const { listMax, summaryScan } = LIMITS;

const listQuery = v.object({
  ...pageQuery("entries"),
  route_id: filterValue("Only entries of this route."),
  category: v.optional(category("Only entries of this error category.")),
  since: v.optional(timestamp("Only entries that failed at or after this time.")),
  before: v.optional(timestamp("Only entries that failed before this time.")),
});

/** Looking into the DLQ, also while the bridge is stopped (spec 4.3, 4.5; contract §2). */
export function dlqReadEndpoints(bridge: BridgeAccess): readonly AdminEndpoint[] {
  const guard = (): void => void bridge.dlq;
  return [
    endpoint({
      method: "GET",
      path: "/api/v1/admin/dlq",
      access: "admin",
      audit: "dlq.summary",
      summary: "How many entries there are.",
      guard,
      refusals: DLQ_REFUSALS,
      answers: { 200: { description: "Counted up to a cap.", schema: summary } },
    }).handle(async () => {
      const count = await bridge.looking(LATE, (signal) => bridge.dlq.count(summaryScan, signal));
      return { status: 200, body: summaryToWire(count, summaryScan) };
    }),

    endpoint({
      method: "GET",
      path: "/api/v1/admin/dlq/messages",
      access: "admin",
      audit: "dlq.list",
      summary: "Entries without their payloads, oldest first.",
      guard,
      query: listQuery,
      refusals: DLQ_REFUSALS,
      answers: { 200: { description: "A page of them.", schema: entryPage } },
    }).handle(async ({ query }) => {
      const page = { limit: Math.min(query.limit, listMax), offset: query.offset };
      const oneMore = { ...page, limit: page.limit + 1 };
      const found = await bridge.looking(LATE, (signal) => bridge.dlq.list(filterFromWire(query), oneMore, signal));
      return { status: 200, body: pageToWire(found, page) };
    }),

    endpoint({
      method: "GET",
      path: "/api/v1/admin/dlq/messages/{id}",
      access: "admin",
      needs: "payload.read",
      audit: "dlq.read_payload",
      resourceId: ({ id }) => id,
      summary: "One entry with its payload and envelope.",
      params: { id: "The id of the entry." },
      guard,
      refusals: { ...DLQ_REFUSALS, 404: "There is no DLQ store, or no such entry." },
      answers: { 200: { description: "The entry.", schema: entry } },
    }).handle(async ({ params: { id } }) => {
      const found = await bridge.looking(LATE, (signal) => bridge.dlq.get(id, signal));
      if (found === undefined) throw new HttpError(404, "DLQ entry not found");
      return { status: 200, body: entryToWire(found) };
    }),
  ];
}
