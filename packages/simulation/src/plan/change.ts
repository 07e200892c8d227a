import type { BridgeDocument } from "@bridge/config";

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
  | { readonly what: "removed" };

type Route = NonNullable<BridgeDocument["routes"]>[number];

/** Whether it concerns where messages go through. */
export function isStructural({ what }: Change): boolean {
  return what !== "policy" && what !== "rate";
}

/** A document as it is after these changes. */
export function changed(document: BridgeDocument, changes: readonly Change[]): BridgeDocument {
  return changes.reduce(
    (before, change) => ({ ...before, routes: routesAfter(before.routes ?? [], change) }),
    document,
  );
}

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
      return routes.map((route) => ({ ...route, id: `${route.id}-renamed` }));
    case "removed":
      return [];
  }
}
