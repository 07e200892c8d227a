import { type RouteName, sourceOf } from "../../torture/src/routes.ts";

/** The two bridges: `a` keeps outbox and dead letters in files, `b` keeps them and its leases in PostgreSQL. */
export const SIDES = ["a", "b"] as const;

export type SideName = (typeof SIDES)[number];

/** Every pair of different transports once, so that each bridge has each of them at both ends; and one way through memory. */
const ROUTES = {
  a: ["mqtt-http", "http-amqp", "http-nats", "amqp-mqtt", "amqp-http", "nats-amqp", "mqtt-mqtt"],
  b: ["mqtt-amqp", "mqtt-nats", "http-mqtt", "amqp-nats", "nats-mqtt", "nats-http", "nats-nats"],
} as const satisfies Readonly<Record<SideName, readonly RouteName[]>>;

/** The route of each bridge whose messages go through a channel in memory, from one route of the document to a second one. */
export const THROUGH_MEMORY = { a: "mqtt-mqtt", b: "nats-nats" } as const satisfies Readonly<
  Record<SideName, RouteName>
>;

export const ALL_ROUTES: readonly RouteName[] = SIDES.flatMap((side) => ROUTES[side]);

export function routesOf(side: SideName): readonly RouteName[] {
  return ROUTES[side];
}

/** The route of the document that takes on what has come through memory. */
export function secondHop(side: SideName): string {
  return `${THROUGH_MEMORY[side]}.out`;
}

export function sideOf(route: RouteName): SideName {
  return (ROUTES.a as readonly RouteName[]).includes(route) ? "a" : "b";
}

export const HTTP_ROUTES: readonly RouteName[] = ALL_ROUTES.filter((route) => sourceOf(route) === "http");
