import { deadline } from "@bridge/ports/internal";
import * as v from "valibot";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import type { BridgeAccess } from "./bridge-access.ts";
import { DLQ_ADMIN_REFUSALS } from "./dlq-refusals.ts";
import { LIMITS } from "./limits.ts";
import { partlyRedriven, redriven } from "./schemas.ts";
import { ids as idList } from "./values.ts";

/** Delivering dead letters again (spec 4.6; contract §2). The loop is the engine's; its bounds are set here. */
export function dlqRedriveEndpoint(
  bridge: BridgeAccess,
  { timeoutMs, replayTimeoutMs }: { readonly timeoutMs: number; readonly replayTimeoutMs: number },
): AdminEndpoint {
  return endpoint({
    method: "POST",
    path: "/api/v1/admin/dlq/redrive",
    access: "admin",
    needs: "dlq.redrive",
    audit: "dlq.redrive",
    begin: { action: "dlq.redrive.begin", detail: ({ ids }) => ({ ids: [...new Set(ids)] }) },
    summary: "Delivers entries again, and deletes each once its delivery is confirmed.",
    guard: () => {
      void bridge.running;
      void bridge.dlqAdmin;
    },
    body: v.strictObject({ ids: idList("DLQ entries", LIMITS.redriveIds) }),
    refusals: { ...DLQ_ADMIN_REFUSALS, 503: "No runtime runs." },
    answers: {
      200: { description: "Every entry was delivered and deleted.", schema: redriven },
      207: { description: "Some entries, or all, were not; those are kept.", schema: partlyRedriven },
    },
  }).handle(async ({ body }) => {
    const ids = [...new Set(body.ids)];
    using limit = deadline(bridge.clock, timeoutMs, new Error(`the redrive was not done after ${timeoutMs} ms`));
    const { errors, ...counts } = await bridge.running.redrive(ids, limit.signal, replayTimeoutMs);
    const failedIds = new Set(errors.map(({ id }) => id));
    const detail = {
      requested: ids.length,
      redriven: counts.redriven,
      failed: counts.failed,
      redriven_ids: ids.filter((id) => !failedIds.has(id)),
      failed_ids: [...failedIds],
    };
    if (counts.failed === 0) return { status: 200, body: { ...counts, failed: 0 }, audit: { detail } };
    return {
      status: 207,
      body: { ...counts, errors: [...errors] },
      audit: { outcome: counts.redriven === 0 ? "failure" : "partial_failure", detail },
    };
  });
}
