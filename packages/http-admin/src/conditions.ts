import type { Condition, Recorder } from "@bridge/core";
import { formatTimestamp } from "@bridge/ports/internal";
import * as v from "valibot";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";

const time = v.pipe(v.string(), v.metadata({ format: "date-time" }));

export const condition = v.object({
  code: v.string(),
  severity: v.picklist(["critical", "warning", "info"]),
  since: v.pipe(time, v.description("Since when it has been so; told once that has been for long enough.")),
  until: v.pipe(v.optional(time), v.description("When it ended.")),
  what: v.string(),
  route_id: v.optional(v.string()),
  binding_id: v.optional(v.string()),
  session_id: v.optional(v.string()),
  runbook: v.pipe(v.string(), v.description("The page of `docs/runbooks`.")),
});

export const conditions = v.object({
  conditions: v.array(condition),
  past: v.pipe(v.optional(v.array(condition)), v.description("With `past=true`: the last 200 that have ended.")),
});

/** What is wrong: the shipped alerts, looked at in the process. */
export function conditionsEndpoint(recorder: Recorder): AdminEndpoint {
  return endpoint({
    method: "GET",
    path: "/api/v1/admin/conditions",
    access: "admin",
    audit: "conditions.read",
    summary: "What is wrong with this instance: the shipped alerts, for those who have no Prometheus.",
    query: v.object({
      past: v.optional(
        v.pipe(v.picklist(["true", "false"]), v.description("Shows those that have ended, too.")),
        "false",
      ),
    }),
    answers: { 200: { description: "Those that hold, gravest first.", schema: conditions } },
  }).handle(({ query }) => ({
    status: 200,
    body: {
      conditions: recorder.conditions().map(conditionToWire),
      ...(query.past === "true" && { past: recorder.pastConditions().map(conditionToWire) }),
    },
  }));
}

export function conditionToWire(one: Condition): v.InferOutput<typeof condition> {
  return {
    code: one.code,
    severity: one.severity,
    since: formatTimestamp(one.since),
    ...(one.until !== undefined && { until: formatTimestamp(one.until) }),
    what: one.what,
    ...(one.routeId !== undefined && { route_id: one.routeId }),
    ...(one.bindingId !== undefined && { binding_id: one.bindingId }),
    ...(one.sessionId !== undefined && { session_id: one.sessionId }),
    runbook: one.runbook,
  };
}
