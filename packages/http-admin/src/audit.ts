import type { AuditHistory, Auditor } from "@bridge/audit";
import { HttpError } from "@bridge/http-kit";
import { type Clock } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import * as v from "valibot";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import { storeAway } from "./bridge-access.ts";
import { LIMITS } from "./limits.ts";
import { filterValue, queryInteger, timestamp } from "./values.ts";

const READ_MS = 10_000;
const VERIFY_MS = 60_000;
const OUTCOMES = ["success", "failure", "partial_failure", "pending", "not_delivered"] as const;
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const event = v.object({
  timestamp: v.pipe(v.string(), v.metadata({ format: "date-time" })),
  action: v.string(),
  actor: v.string(),
  resource_type: v.string(),
  resource_id: v.string(),
  outcome: v.picklist(OUTCOMES),
  detail: v.record(v.string(), v.unknown()),
});

export const auditPage = v.object({
  events: v.array(event),
  next_cursor: v.optional(v.string()),
  chain: v.pipe(v.picklist(["ok", "broken"]), v.description("Of the records that were read.")),
  break_at: v.pipe(
    v.optional(count),
    v.description(
      "The number of a record that does not follow from the one before it, or before which some are gone, or that is not there.",
    ),
  ),
});

export const auditVerification = v.object({
  records: count,
  ok: v.boolean(),
  head: v.pipe(v.string(), v.description("The hash of the last record.")),
  problem: v.pipe(v.optional(v.string()), v.description("The first break, or what was taken away, in words.")),
});

/** Reading what was recorded, and holding it against its hashes. */
export function auditEndpoints(auditor: Auditor, clock: Clock): readonly AdminEndpoint[] {
  const history = (): AuditHistory => {
    if (auditor.history === undefined) throw new HttpError(404, "no audit file configured");
    return auditor.history;
  };
  const guard = (): void => void history();
  const bounded = async <Result>(ms: number, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> => {
    using limit = deadline(clock, ms, new HttpError(503, `the audit file was not read within ${ms / 1_000} s`));
    try {
      return await orAborted(work(limit.signal), limit.signal);
    } catch (error) {
      throw storeAway(error) ?? error;
    }
  };
  const refusals = { 404: "There is no audit file.", 503: "It cannot be read, and why, or was not in time." };
  return [
    endpoint({
      method: "GET",
      path: "/api/v1/admin/audit",
      access: "admin",
      audit: "audit.read",
      summary: "What was recorded, newest first.",
      guard,
      query: v.object({
        since: v.optional(timestamp("Only events at or after this time.")),
        before: v.optional(timestamp("Only events before this time.")),
        actor: filterValue("Only events of this actor."),
        action: filterValue("Only events of this action."),
        outcome: v.optional(v.pipe(v.picklist(OUTCOMES), v.description("Only events with this outcome."))),
        resource_id: filterValue("Only events about this resource."),
        limit: v.optional(
          queryInteger(`How many events; more than ${LIMITS.listMax} count as that.`, 1, Infinity),
          "100",
        ),
        cursor: filterValue("Goes on where the page with this `next_cursor` ended."),
      }),
      refusals,
      answers: {
        200: {
          description:
            "At most 4 MB of the file are read: a page may be short, even empty, and still have a `next_cursor`.",
          schema: auditPage,
        },
      },
    }).handle(async ({ query: { resource_id: resourceId, limit, cursor, ...filter } }) => {
      const most = Math.min(limit, LIMITS.listMax);
      const page = await bounded(READ_MS, (signal) =>
        history().read({ ...filter, resourceId }, most, cursor, signal),
      ).catch((error: unknown) => {
        if (error instanceof RangeError) throw new HttpError(400, "invalid query: cursor: is not one of this list");
        throw error;
      });
      return {
        status: 200,
        body: {
          events: page.events.map((one) => ({ ...one, detail: { ...one.detail } })),
          ...(page.next !== undefined && { next_cursor: page.next }),
          chain: page.breakAt === undefined ? "ok" : "broken",
          ...(page.breakAt !== undefined && { break_at: page.breakAt }),
        },
      };
    }),

    endpoint({
      method: "POST",
      path: "/api/v1/admin/audit/verify",
      access: "admin",
      audit: "audit.verify",
      summary: "Holds every record against its hash and the one before.",
      guard,
      refusals,
      answers: { 200: { description: "What was found.", schema: auditVerification } },
    }).handle(async () => {
      const { records, head, problem } = await bounded(VERIFY_MS, (signal) => history().verify(signal));
      return {
        status: 200,
        body: { records, ok: problem === undefined, head, ...(problem !== undefined && { problem }) },
        audit: { detail: { ok: problem === undefined, records } },
      };
    }),
  ];
}
