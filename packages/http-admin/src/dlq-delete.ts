import * as v from "valibot";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import type { BridgeAccess } from "./bridge-access.ts";
import { deleteInBatches } from "./delete-in-batches.ts";
import { filterFromWire, filterToWire } from "./dlq-filter.ts";
import { DLQ_ADMIN_REFUSALS } from "./dlq-refusals.ts";
import { LIMITS } from "./limits.ts";
import { deleted, deletedWhere, purged } from "./schemas.ts";
import { category, ids as idList, text, timestamp } from "./values.ts";

const LIMIT_MESSAGE = "expected an integer of at least 0";

const filterFields = v.strictObject({
  route_id: v.optional(text("Only entries of this route.", LIMITS.idLength)),
  category: v.optional(category("Only entries of this error category.")),
  since: v.optional(timestamp("Only entries that failed at or after this time.")),
  before: v.optional(timestamp("Only entries that failed before this time.")),
  limit: v.optional(
    v.pipe(
      v.number(LIMIT_MESSAGE),
      v.description("At most so many entries, the oldest ones; 0 means all that match."),
      v.integer(LIMIT_MESSAGE),
      v.minValue(0, LIMIT_MESSAGE),
    ),
    0,
  ),
  confirm_delete_all: v.optional(
    v.pipe(v.boolean("expected true or false"), v.description("Must be true when no filter is given.")),
  ),
});

// A check of the body, so that nothing is begun, and recorded as begun, that is refused.
const filterBody = v.pipe(
  filterFields,
  v.check(
    (body) => body.confirm_delete_all === true || !matchesAll(body),
    "an empty filter matches every entry: set confirm_delete_all to true to delete all",
  ),
);

function matchesAll(body: v.InferOutput<typeof filterFields>): boolean {
  return Object.keys(filterFromWire(body)).length === 0;
}

const UNSURE = "the entries may be deleted or not: repeat the call, which deletes those that are left";

const purgeBody = v.strictObject({
  confirm_purge_all: v.pipe(v.literal(true, "must be true"), v.description("Must be true.")),
});

/** Deleting from the DLQ, also while the bridge is stopped (spec 4.7, 4.8; contract §2). */
export function dlqDeleteEndpoints(bridge: BridgeAccess): readonly AdminEndpoint[] {
  const guard = (): void => void bridge.dlqAdmin;
  return [
    endpoint({
      method: "POST",
      path: "/api/v1/admin/dlq/delete",
      access: "admin",
      needs: "dlq.delete",
      audit: "dlq.delete",
      begin: { action: "dlq.delete.begin", detail: ({ ids }) => ({ ids: [...new Set(ids)] }) },
      summary: "Deletes entries by their ids.",
      guard,
      body: v.strictObject({ ids: idList("DLQ entries", LIMITS.deleteIds) }),
      refusals: DLQ_ADMIN_REFUSALS,
      answers: { 200: { description: "How many of them were there.", schema: deleted } },
    }).handle(async ({ body }) => {
      const ids = [...new Set(body.ids)];
      const { dlqAdmin } = bridge;
      const gone = await bridge.changing(UNSURE, (signal) => dlqAdmin.delete(ids, signal));
      return {
        status: 200,
        body: { deleted: gone.size },
        audit: { detail: { requested: ids.length, deleted: gone.size, ids: [...gone] } },
      };
    }),

    endpoint({
      method: "POST",
      path: "/api/v1/admin/dlq/delete-by-filter",
      access: "admin",
      needs: "dlq.delete",
      needsFor: [{ permission: "dlq.purge", when: matchesAll }],
      audit: "dlq.delete_by_filter",
      begin: {
        action: "dlq.delete_by_filter.begin",
        detail: (body) => ({ ...filterToWire(filterFromWire(body)), limit: body.limit }),
      },
      summary: "Deletes the entries that match, oldest first.",
      guard,
      body: filterBody,
      refusals: DLQ_ADMIN_REFUSALS,
      answers: { 200: { description: "How many were deleted.", schema: deletedWhere } },
    }).handle(async ({ body }) => {
      const filter = filterFromWire(body);
      const asked = { ...filterToWire(filter), limit: body.limit };
      const { count: gone, ...rest } = await deleteInBatches(bridge, {
        filter,
        limit: body.limit === 0 ? Infinity : body.limit,
        told: (count) => ({ ...asked, deleted: count }),
      });
      return {
        status: 200,
        body: { deleted: gone, ...rest },
        audit: { detail: { ...asked, deleted: gone, ...rest } },
      };
    }),

    endpoint({
      method: "POST",
      path: "/api/v1/admin/dlq/purge",
      access: "admin",
      needs: "dlq.purge",
      audit: "dlq.purge",
      begin: { action: "dlq.purge.begin" },
      summary: "Deletes every entry.",
      guard,
      body: purgeBody,
      refusals: DLQ_ADMIN_REFUSALS,
      answers: { 200: { description: "How many were deleted.", schema: purged } },
    }).handle(async () => {
      const { count: gone, ...rest } = await deleteInBatches(bridge, {
        filter: {},
        limit: Infinity,
        told: (count) => ({ purged: count }),
      });
      const body = { purged: gone, ...rest };
      return { status: 200, body, audit: { detail: body } };
    }),
  ];
}
