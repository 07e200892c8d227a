/** The routes that can be tortured, with what is at their two ends. */
export const ROUTES = {
  "mqtt-mqtt": { source: "mqtt", target: "mqtt" },
  "mqtt-http": { source: "mqtt", target: "http" },
  "http-mqtt": { source: "http", target: "mqtt" },
  "http-http": { source: "http", target: "http" },
} as const satisfies Readonly<Record<string, { readonly source: Transport; readonly target: Transport }>>;

export type Transport = "mqtt" | "http";
export type RouteName = keyof typeof ROUTES;

export const ROUTE_NAMES = Object.keys(ROUTES) as readonly RouteName[];

export type DeliveryMode = "direct_hold" | "shared_outbox";
/** Where the bridge keeps dead letters and, in `shared_outbox`, the outbox. In `memory` they die with the process. */
export type StoreType = "file" | "memory";
