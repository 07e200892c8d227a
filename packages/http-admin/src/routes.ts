import { INGRESS_LIMITS } from "@bridge/core";
import { HttpError } from "@bridge/http-kit";
import { Slices } from "@bridge/ports/internal";
import * as v from "valibot";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import type { BridgeAccess } from "./bridge-access.ts";
import { withinHeaderLimits } from "./header-limits.ts";
import { explain, REASONS } from "./not-delivered.ts";
import { injected, notDelivered, route } from "./schemas.ts";
import { base64, stringMap, text } from "./values.ts";
import { injectedToWire, notDeliveredToWire, routeToWire } from "./wire.ts";

const injectBody = v.strictObject({
  subject: text("The subject of the message.", INGRESS_LIMITS.subjectLength),
  payload: v.optional(base64("The payload. Default: empty."), ""),
  headers: v.optional(
    v.pipe(
      stringMap("Headers of the message; reserved `x-bridge.*` names are dropped."),
      v.metadata({ maxProperties: INGRESS_LIMITS.headers }),
      ...withinHeaderLimits,
    ),
  ),
  id: v.optional(text("The envelope id. Default: one is generated.", INGRESS_LIMITS.idLength)),
});

/** Listing routes, injecting test messages (spec 4.2, 4.4; contract §2), holding a route still and letting it go on. */
export function routeEndpoints(bridge: BridgeAccess): readonly AdminEndpoint[] {
  const known = (routeID: string): void => {
    if (bridge.supervisor.config().routes.some(({ id }) => id === routeID)) return;
    throw new HttpError(404, "route not found");
  };
  const switched = <Verb extends "pause" | "resume">(verb: Verb) => ({
    method: "POST" as const,
    path: `/api/v1/admin/routes/{routeID}/${verb}` as const,
    access: "admin" as const,
    needs: "route.pause" as const,
    audit: `route.${verb}` as const,
    begin: { action: `route.${verb}.begin` as const },
    resourceId: ({ routeID }: { readonly routeID: string }) => routeID,
    params: { routeID: "The id of the route." },
    guard: ({ routeID }: { readonly routeID: string }) => known(routeID),
    refusals: { 404: "There is no such route.", 503: "The process has no bridge yet." },
  });
  return [
    endpoint({
      method: "GET",
      path: "/api/v1/admin/routes",
      access: "admin",
      audit: "route.list",
      summary: "The routes, also while the bridge is stopped.",
      guard: () => void bridge.supervisor,
      refusals: { 503: "The process has no bridge yet." },
      answers: { 200: { description: "All of them.", schema: v.object({ routes: v.array(route) }) } },
    }).handle(async () => {
      const { routes } = bridge.supervisor.view();
      return { status: 200, body: { routes: await new Slices(bridge.clock).map(routes, routeToWire) } };
    }),

    endpoint({
      method: "POST",
      path: "/api/v1/admin/routes/{routeID}/inject",
      access: "admin",
      needs: "message.inject",
      audit: "route.inject",
      begin: { action: "route.inject.begin" },
      resourceId: ({ routeID }) => routeID,
      summary: "Carries a message through a route, and waits for what becomes of it.",
      params: { routeID: "The id of the route." },
      guard: ({ routeID }) => {
        void bridge.running;
        known(routeID);
      },
      body: injectBody,
      refusals: {
        404: "There is no such route.",
        409: "The route is paused.",
        503: "No runtime runs.",
      },
      answers: {
        200: { description: "The message reached its destination.", schema: injected },
        422: { description: "The route settled the message without delivering it.", schema: notDelivered },
      },
    }).handle(async ({ params: { routeID }, body }) => {
      const result = await bridge.bounded(
        () => "the inject was cancelled: the message was not settled",
        (signal) => bridge.running.inject(routeID, body, { signal }),
      );
      const { outcome } = result;
      const detail = { envelope_id: result.envelopeId };
      if (outcome === "delivered" || outcome === "duplicate")
        return { status: 200, body: injectedToWire(result), audit: { detail } };
      return {
        status: 422,
        body: notDeliveredToWire(result, outcome, explain(result, REASONS[outcome])),
        audit: { outcome: "not_delivered", detail: { ...detail, reason: outcome } },
      };
    }),

    endpoint({
      ...switched("pause"),
      summary: "Holds a route still: nothing is taken from its receiver and nothing is sent; it survives reloads.",
      answers: { 200: { description: "It is paused.", schema: v.object({ status: v.literal("paused") }) } },
    }).handle(({ params: { routeID } }) => {
      bridge.supervisor.pauseRoute(routeID);
      return { status: 200, body: { status: "paused" } };
    }),

    endpoint({
      ...switched("resume"),
      summary: "Lets a paused route go on.",
      answers: { 200: { description: "It goes on.", schema: v.object({ status: v.literal("resumed") }) } },
    }).handle(({ params: { routeID } }) => {
      bridge.supervisor.resumeRoute(routeID);
      return { status: 200, body: { status: "resumed" } };
    }),
  ];
}
