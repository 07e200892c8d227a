import type { BridgeDocument } from "@bridge/config";
import { withBindings } from "./looks-at.ts";

/**
 * What an operator changes in the document of an instance. `policy` and `rate` change numbers. The others concern where its
 * messages go through: they leave what the outbox holds of the route to nobody.
 */
export type Change =
  | { readonly what: "policy"; readonly policy: NonNullable<Route["policy"]> }
  | { readonly what: "rate"; readonly perSecond: number }
  /** From `shared_outbox` to `direct_hold`. */
  | { readonly what: "mode" }
  | { readonly what: "renamed" }
  | { readonly what: "removed" }
  /** All bindings have other ids, for which the outbox holds nothing yet. */
  | { readonly what: "bindings-renamed" }
  /** All bindings point to other targets, which are the same ones under another name here. */
  | { readonly what: "readdressed" }
  /** The session of the source is made anew: it is somewhere else, or the broker does not know who it is. */
  | { readonly what: "session"; readonly known: boolean }
  /** Another store in the place of one. */
  | { readonly what: "dlq-moved" | "outbox-moved" };

const RENAMED = "-renamed";
const ELSEWHERE = "-elsewhere";

/** The binding of the plan that a binding of a changed document, or its address, stands for. */
export function plannedBinding(name: string): string {
  return [RENAMED, ELSEWHERE].reduce((rest, end) => (rest.endsWith(end) ? rest.slice(0, -end.length) : rest), name);
}

type Route = NonNullable<BridgeDocument["routes"]>[number];

/** Whether it concerns where messages go through. */
export function isStructural({ what }: Change): boolean {
  return what !== "policy" && what !== "rate";
}

/** A document as it is after these changes. */
export function changed(document: BridgeDocument, changes: readonly Change[]): BridgeDocument {
  return changes.reduce(
    (before, change) => ({
      ...before,
      ...partsAfter(before, change),
      routes: routesAfter(before.routes ?? [], change),
    }),
    document,
  );
}

/** Of what is no route: the parts that differ. */
function partsAfter({ bindings = [], sessions = [], stores }: BridgeDocument, change: Change): Partial<BridgeDocument> {
  switch (change.what) {
    case "bindings-renamed":
      return { bindings: bindings.map((binding) => ({ ...binding, id: `${binding.id}${RENAMED}` })) };
    case "readdressed":
      return { bindings: bindings.map((binding) => ({ ...binding, address: `${binding.address}${ELSEWHERE}` })) };
    case "session": {
      const options = { login: change.known ? "another" : "unknown" };
      return { sessions: sessions.map((each) => (each.transport === "simulated" ? { ...each, options } : each)) };
    }
    case "dlq-moved":
      return { stores: { ...stores, dlq: OTHER_STORE } };
    case "outbox-moved":
      return { stores: { ...stores, outbox: OTHER_STORE } };
    case "policy":
    case "rate":
    case "mode":
    case "renamed":
    case "removed":
      return {};
  }
}

/** In the place of one of the plan. */
export const OTHER_STORE = { type: "simulated", options: { place: "other" } };

function routesAfter(routes: readonly Route[], change: Change): Route[] {
  switch (change.what) {
    case "policy":
      return routes.map((route) => ({ ...route, policy: { ...route.policy, ...change.policy } }));
    case "rate":
      return routes.map((route) => ({ ...route, rate_limit: { messages_per_second: change.perSecond } }));
    case "mode":
      return routes.map((route) => ({
        ...route,
        delivery_mode: "direct_hold",
        policy: { ...route.policy, max_outbox_depth: undefined },
      }));
    case "renamed":
      return routes.map((route) => ({ ...route, id: `${route.id}${RENAMED}` }));
    case "bindings-renamed":
      return routes.map((route) =>
        withBindings(
          route,
          (route.bindings ?? []).map((id) => `${id}${RENAMED}`),
        ),
      );
    case "removed":
      return [];
    case "readdressed":
    case "session":
    case "dlq-moved":
    case "outbox-moved":
      return [...routes];
  }
}
