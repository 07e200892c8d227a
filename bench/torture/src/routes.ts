/** What there is at an end of a route. The order matters to {@link modeOf} alone. */
export const TRANSPORTS = ["mqtt", "http", "amqp", "nats"] as const;

export type Transport = (typeof TRANSPORTS)[number];
/** From a queue to a function of a program that the bridge is embedded in, which hands what it gets to the web service. */
const TO_FUNCTION = "amqp-function";
/** A route is named after what is at its two ends. */
export type RouteName = `${Transport}-${Transport}` | typeof TO_FUNCTION;

/** Of the binary; an embedded bridge has {@link EMBEDDED_ROUTES}. */
export const ROUTE_NAMES: readonly RouteName[] = pairsOf(TRANSPORTS, TRANSPORTS);

/** The routes of a run that names none. */
export const USUAL_ROUTES: readonly RouteName[] = pairsOf(["mqtt", "http"], ["mqtt", "http"]);

/** The routes of the bridge in code. */
export const EMBEDDED_ROUTES: readonly RouteName[] = [TO_FUNCTION, "amqp-http"];

export type Role = "source" | "target";
/** One side of the bridge, with what is there. */
export type EndName = `${Role}_${Transport}`;

export type DeliveryMode = "direct_hold" | "shared_outbox";
/** How the routes of a run deliver: all in one mode, or half of them in each, so that each has every kind of end. */
export type Mode = DeliveryMode | "both";
/** Where the bridge keeps dead letters and, in `shared_outbox`, the outbox. In `memory` they die with the process. */
export type StoreType = "file" | "postgres" | "memory";

/** Every route from one of these to one of those. */
export function pairsOf(sources: readonly Transport[], targets: readonly Transport[]): readonly RouteName[] {
  return sources.flatMap((source) => targets.map((target): RouteName => `${source}-${target}`));
}

export function sourceOf(route: RouteName): Transport {
  return route.split("-")[0] as Transport;
}

/** What messages arrive at in the end. */
export function targetOf(route: RouteName): Transport {
  if (route === TO_FUNCTION) return "http";
  return route.split("-")[1] as Transport;
}

/** The ends that these routes have, each once. */
export function endsOf(routes: readonly RouteName[]): ReadonlySet<EndName> {
  return new Set(routes.flatMap((route): EndName[] => [`source_${sourceOf(route)}`, `target_${targetOf(route)}`]));
}

export function isRoute(name: string): name is RouteName {
  return name === TO_FUNCTION || (ROUTE_NAMES as readonly string[]).includes(name);
}

/** With both modes, neighbours differ, so that each source and each target has both. */
export function modeOf(route: RouteName, mode: Mode): DeliveryMode {
  if (mode !== "both") return mode;
  const sum = TRANSPORTS.indexOf(sourceOf(route)) + TRANSPORTS.indexOf(targetOf(route));
  return sum % 2 === 0 ? "direct_hold" : "shared_outbox";
}

/** Whether there is an outbox at all. */
export function hasOutbox({ routes, mode }: { readonly routes: readonly RouteName[]; readonly mode: Mode }): boolean {
  return routes.some((route) => modeOf(route, mode) === "shared_outbox");
}
