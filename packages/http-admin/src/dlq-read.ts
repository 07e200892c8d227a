import { HttpError } from "@bridge/http-kit";
import * as v from "valibot";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import type { BridgeAccess } from "./bridge-access.ts";
import { cursorFromWire, type DlqCursor } from "./dlq-cursor.ts";
import { FILTER_QUERY, isPlain, queryFromWire } from "./dlq-filter.ts";
import { pageAt, pageByOffset, pageToWire } from "./dlq-page.ts";
import { DLQ_PART_REFUSALS, DLQ_REFUSALS } from "./dlq-refusals.ts";
import { LIMITS } from "./limits.ts";
import type { Redaction } from "./redaction.ts";
import { entry, entryPage, summary } from "./schemas.ts";
import { filterValue, pageQuery } from "./values.ts";
import { entryToWire, summaryToWire } from "./wire.ts";

const { listMax, summaryScan } = LIMITS;

const listQuery = v.object({
  ...pageQuery("entries"),
  ...FILTER_QUERY,
  sort: v.optional(
    v.pipe(
      v.picklist(["oldest", "newest"], "expected oldest or newest"),
      v.description("Which come first. Default: that of the cursor, else oldest."),
    ),
  ),
  cursor: filterValue("Where a page goes on: `next_cursor` or `prev_cursor` of another one."),
});

type ListQuery = v.InferOutput<typeof listQuery>;

/** Where a page by key begins; `undefined` for one by offset. @throws HttpError 400 when it cannot be told */
function placeFrom({ cursor: wire, sort, offset }: ListQuery, takesOffset: boolean): DlqCursor | undefined {
  if (wire !== undefined) {
    if (offset > 0) throw new HttpError(400, "invalid query: offset: give either a cursor or an offset");
    const cursor = cursorFromWire(wire);
    if (cursor === undefined || (sort !== undefined && sort !== cursor.order))
      throw new HttpError(400, "invalid query: cursor: is not one of this list");
    return cursor;
  }
  if (sort === undefined && takesOffset) return undefined;
  if (offset > 0)
    throw new HttpError(
      400,
      "invalid query: offset: only route_id, category, since and before go with it; follow next_cursor",
    );
  return { order: sort ?? "oldest", back: false };
}

/** Looking into the DLQ, also while the bridge is stopped (spec 4.3, 4.5; contract §2). */
export function dlqReadEndpoints(bridge: BridgeAccess, redaction: Redaction): readonly AdminEndpoint[] {
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
      const count = await bridge.looking("DLQ", (signal) => bridge.dlq.count(summaryScan, signal));
      return { status: 200, body: summaryToWire(count, summaryScan) };
    }),

    endpoint({
      method: "GET",
      path: "/api/v1/admin/dlq/messages",
      access: "admin",
      audit: "dlq.list",
      summary: "Entries without their payloads, oldest first unless you say otherwise.",
      guard,
      query: listQuery,
      refusals: DLQ_PART_REFUSALS,
      answers: { 200: { description: "A page of them.", schema: entryPage } },
    }).handle(async ({ query }) => {
      const { offset } = query;
      const limit = Math.min(query.limit, listMax);
      const filter = queryFromWire(query);
      const place = placeFrom(query, isPlain(filter));
      const page = await bridge.looking("DLQ", async (signal) =>
        place === undefined
          ? pageByOffset(await bridge.dlq.list(filter, { limit: limit + 1, offset }, signal), limit, offset)
          : pageAt(bridge.dlqPages, filter, place, limit, signal),
      );
      const keyed = bridge.dlq.page !== undefined;
      return { status: 200, body: pageToWire(page, { limit, offset, keyed }) };
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
      refusals: {
        ...DLQ_REFUSALS,
        404: "There is no DLQ store, or no such entry.",
        500: "The entry is not as it was written.",
      },
      answers: { 200: { description: "The entry.", schema: entry } },
    }).handle(async ({ params: { id }, caller }) => {
      const found = await bridge.looking("DLQ", (signal) => bridge.dlq.get(id, signal));
      if (found === undefined) throw new HttpError(404, "DLQ entry not found");
      return { status: 200, body: entryToWire(found, redaction.show(found.envelope, caller)) };
    }),
  ];
}
