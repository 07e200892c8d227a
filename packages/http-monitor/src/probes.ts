import { type BridgeView, READINESS_LEVELS } from "@bridge/core";
import { type Endpoint, endpointFor } from "@bridge/http-kit";
import * as v from "valibot";
import { level, notReady, readiness, ready } from "./schemas.ts";

const endpoint = endpointFor<never>();

/** Whoever asks wants to know how things are now (spec 4.1). */
const headers = { "Cache-Control": "no-cache, max-age=0" } as const;

/** The probes that orchestrators ask, open to all: they tell no more than how things are (spec 4.1, 5.1). */
export function probes(view: () => BridgeView): readonly Endpoint<never>[] {
  return [
    endpoint({
      method: "GET",
      path: "/api/v1/monitor/health",
      access: "open",
      summary: "Whether the bridge runs and all its background components do.",
      headers,
      answers: {
        200: { description: "It does.", schema: v.object({ status: v.literal("ok") }) },
        503: {
          description: "It does not: a component has failed, it is stopped, or it was never started.",
          schema: v.object({ status: v.picklist(["unhealthy", "not_running", "unavailable"]) }),
        },
      },
    }).handle(() => {
      const { health } = view();
      return health === "ok" ? { status: 200, body: { status: health } } : { status: 503, body: { status: health } };
    }),

    endpoint({
      method: "GET",
      path: "/api/v1/monitor/live",
      access: "open",
      summary: "Whether the process can go on; when it cannot, it has to be restarted.",
      headers,
      answers: {
        200: { description: "It can.", schema: v.object({ status: v.literal("alive") }) },
        503: { description: "It is beyond recovery.", schema: v.object({ status: v.literal("terminal") }) },
      },
    }).handle(() =>
      view().state === "terminal"
        ? { status: 503, body: { status: "terminal" } }
        : { status: 200, body: { status: "alive" } },
    ),

    endpoint({
      method: "GET",
      path: "/api/v1/monitor/ready",
      access: "open",
      summary: "Whether the bridge has reached a level of readiness.",
      headers,
      query: v.object({
        level: v.optional(v.pipe(level, v.description("The level to ask for. Without it: full, in the short form."))),
      }),
      answers: {
        200: { description: "It has.", schema: v.union([readiness, ready]) },
        503: { description: "It has not.", schema: v.union([readiness, notReady]) },
      },
    }).handle(({ query: { level: requested } }) => {
      const { role, level: achieved } = view();
      if (requested === undefined)
        return achieved === "full"
          ? { status: 200, body: { status: "ready", role } }
          : { status: 503, body: { error: "not ready" } };
      const reached = READINESS_LEVELS.indexOf(achieved) >= READINESS_LEVELS.indexOf(requested);
      return reached
        ? { status: 200, body: { status: "ready", role, level: achieved, requested } }
        : { status: 503, body: { status: "not_ready", role, level: achieved, requested } };
    }),
  ];
}
