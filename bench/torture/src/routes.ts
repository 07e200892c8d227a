/** The routes that can be tortured, with what is at their two ends and how they deliver when both modes are tortured. */
export const ROUTES = {
  "mqtt-mqtt": { source: "mqtt", target: "mqtt", inBoth: "direct_hold" },
  "mqtt-http": { source: "mqtt", target: "http", inBoth: "shared_outbox" },
  "http-mqtt": { source: "http", target: "mqtt", inBoth: "shared_outbox" },
  "http-http": { source: "http", target: "http", inBoth: "direct_hold" },
} as const satisfies Readonly<
  Record<string, { readonly source: Transport; readonly target: Transport; readonly inBoth: DeliveryMode }>
>;

export type Transport = "mqtt" | "http";
export type RouteName = keyof typeof ROUTES;

export const ROUTE_NAMES = Object.keys(ROUTES) as readonly RouteName[];

export type DeliveryMode = "direct_hold" | "shared_outbox";
/** How the routes of a run deliver: all in one mode, or half of them in each, so that each has every kind of end. */
export type Mode = DeliveryMode | "both";
/** Where the bridge keeps dead letters and, in `shared_outbox`, the outbox. In `memory` they die with the process. */
export type StoreType = "file" | "memory";

export function modeOf(route: RouteName, mode: Mode): DeliveryMode {
  return mode === "both" ? ROUTES[route].inBoth : mode;
}

/** Whether there is an outbox at all. */
export function hasOutbox({ routes, mode }: { readonly routes: readonly RouteName[]; readonly mode: Mode }): boolean {
  return routes.some((route) => modeOf(route, mode) === "shared_outbox");
}
