import type { BridgeView } from "@bridge/core";
import { type Endpoint, endpointFor } from "@bridge/http-kit";
import { type Clock } from "@bridge/ports";
import { Slices } from "@bridge/ports/internal";
import * as v from "valibot";
import type { ConfigWatch } from "./config-watch.ts";
import type { KeyRefresh } from "./key-refresh.ts";
import { deepHealth, route, topology } from "./schemas.ts";
import type { Scrapes } from "./scrapes.ts";
import { deepHealthToWire, routeToWire, topologyToWire } from "./wire.ts";

const endpoint = endpointFor<never>();

export interface ViewsOptions {
  readonly view: () => BridgeView;
  readonly configWatch: () => ConfigWatch | undefined;
  readonly keyRefresh: () => KeyRefresh | undefined;
  readonly scrapes: Scrapes;
  /** Why audit sinks do not keep what they are given, by their names. */
  readonly auditFaults: () => ReadonlyMap<string, string>;
  readonly clock: Clock;
}

/** What is for the eyes of operators: behind the monitor key or an admin key (spec 4.1, 5.2). */
export function views({
  view,
  configWatch,
  keyRefresh,
  scrapes,
  auditFaults,
  clock,
}: ViewsOptions): readonly Endpoint<never>[] {
  return [
    endpoint({
      method: "GET",
      path: "/api/v1/monitor/topology",
      access: "monitor",
      summary: "The instance and its routes.",
      answers: { 200: { description: "Also while the bridge is stopped.", schema: topology } },
    }).handle(async () => ({ status: 200, body: await topologyToWire(view(), new Slices(clock)) })),

    endpoint({
      method: "GET",
      path: "/api/v1/monitor/routes",
      access: "monitor",
      summary: "The routes with their policies.",
      answers: {
        200: { description: "Also while the bridge is stopped.", schema: v.object({ routes: v.array(route) }) },
      },
    }).handle(async () => ({ status: 200, body: { routes: await new Slices(clock).map(view().routes, routeToWire) } })),

    endpoint({
      method: "GET",
      path: "/api/v1/monitor/deephealth",
      access: "monitor",
      summary: "Everything that readiness is judged from.",
      answers: {
        200: { description: "The bridge is ready for traffic.", schema: deepHealth },
        503: { description: "It is not.", schema: deepHealth },
      },
    }).handle(async () => {
      const body = await deepHealthToWire(view(), configWatch(), keyRefresh(), auditFaults(), new Slices(clock));
      return { status: body.ready_for_traffic ? 200 : 503, body };
    }),

    endpoint({
      method: "GET",
      path: "/api/v1/monitor/metrics",
      access: "monitor",
      isShared: true,
      summary: "Counters and gauges.",
      answers: {
        200: {
          description: "In the text format of Prometheus.",
          contentType: "text/plain; version=0.0.4; charset=utf-8",
          schema: v.string(),
        },
      },
    }).handle(async () => ({ status: 200, body: await scrapes.next() })),
  ];
}
