import type { BridgeConfig } from "@bridge/config";
import type { BridgeView, Progress } from "@bridge/core";
import { Slices } from "@bridge/ports/internal";
import * as v from "valibot";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import type { BridgeAccess } from "./bridge-access.ts";

const state = v.picklist(["up", "degraded", "down", "paused", "idle"]);

const node = v.object({
  id: v.string(),
  kind: v.picklist(["session", "receiver", "route", "binding", "sender"]),
  label: v.pipe(v.string(), v.description("Its id in the configuration.")),
  transport: v.optional(v.string()),
  session: v.optional(v.string()),
  state,
});

export const topologyGraph = v.object({
  nodes: v.array(node),
  edges: v.array(v.object({ from: v.string(), to: v.string() })),
});

type Node = v.InferOutput<typeof node>;
type State = v.InferOutput<typeof state>;

/** What messages go through, from sessions to senders. */
export function topologyEndpoint(bridge: BridgeAccess): AdminEndpoint {
  return endpoint({
    method: "GET",
    path: "/api/v1/admin/topology",
    access: "admin",
    audit: "topology.read",
    summary: "The parts of the configuration in force as a graph, each with its state.",
    guard: () => void bridge.supervisor,
    refusals: { 503: "The process has no bridge yet." },
    answers: { 200: { description: "Parts, and where messages go from each.", schema: topologyGraph } },
  }).handle(async () => {
    const { supervisor } = bridge;
    return { status: 200, body: await graphOf(supervisor.config(), supervisor.view(), new Slices(bridge.clock)) };
  });
}

async function graphOf(
  config: BridgeConfig,
  view: BridgeView,
  slices: Slices,
): Promise<v.InferOutput<typeof topologyGraph>> {
  const edges: { from: string; to: string }[] = [];
  const join = (from: string, to: string): void => void edges.push({ from, to });
  const sessions = new Map(view.sessions.map((session) => [session.sessionId, session] as const));
  const stateOf = (sessionId: string | undefined): State => {
    if (!view.running) return "idle";
    const session = sessionId === undefined ? undefined : sessions.get(sessionId);
    if (sessionId === undefined || session === undefined) return sessionId === undefined ? "up" : "idle";
    if (!session.connected) return session.leasedElsewhere ? "idle" : "down";
    return session.serviceLevel === "full" ? "up" : "degraded";
  };
  const nodes: Node[] = config.sessions.map(({ id, transport }) => ({
    id: `session:${id}`,
    kind: "session",
    label: id,
    transport,
    state: stateOf(id),
  }));
  for (const { id, transport, sessionId } of config.receivers) {
    nodes.push({
      id: `receiver:${id}`,
      kind: "receiver",
      label: id,
      transport,
      ...over(sessionId),
      state: stateOf(sessionId),
    });
    if (sessionId !== undefined) join(`session:${sessionId}`, `receiver:${id}`);
  }
  const routeViews = new Map(view.routes.map((route) => [route.id, route] as const));
  const routes = await slices.map(config.routes, ({ id, receiverId, bindings }): Node => {
    join(`receiver:${receiverId}`, `route:${id}`);
    for (const binding of bindings) join(`route:${id}`, `binding:${binding}`);
    const route = routeViews.get(id);
    return { id: `route:${id}`, kind: "route", label: id, state: routeState(route) };
  });
  nodes.push(...routes);
  for (const { id, senderId, sessionId } of config.bindings) {
    nodes.push({ id: `binding:${id}`, kind: "binding", label: id, ...over(sessionId), state: stateOf(sessionId) });
    join(`binding:${id}`, `sender:${senderId}`);
  }
  for (const { id, transport, sessionId } of config.senders) {
    nodes.push({
      id: `sender:${id}`,
      kind: "sender",
      label: id,
      transport,
      ...over(sessionId),
      state: stateOf(sessionId),
    });
    if (sessionId !== undefined) join(`sender:${id}`, `session:${sessionId}`);
  }
  return { nodes, edges };
}

function over(sessionId: string | undefined): Pick<Node, "session"> {
  return sessionId === undefined ? {} : { session: sessionId };
}

function routeState(route: BridgeView["routes"][number] | undefined): State {
  if (route === undefined) return "idle";
  if (route.paused) return "paused";
  return PROGRESS_STATES[route.progress?.progress ?? "idle"];
}

const PROGRESS_STATES = {
  moving: "up",
  idle: "idle",
  failing: "degraded",
  waiting: "degraded",
  stalled: "down",
} as const satisfies Readonly<Record<Progress, State>>;
