import type { BridgeDocument } from "@bridge/config";
import type { TargetDefinition } from "@bridge/ports";
import type { RouteDefinition, Target } from "./bridge-definition.ts";
import { isTransport, kindOf } from "./part-kinds.ts";

type Resolver = NonNullable<NonNullable<BridgeDocument["routes"]>[number]["resolver"]>;

/** A target of a route, with what it is called. */
export interface NamedTarget {
  readonly bindingId: string;
  /** What the route's resolver calls it. */
  readonly name: string;
  /** Behind `to`, where it stands. */
  readonly place: readonly (string | number)[];
  /** Nothing is known of what a program hands over that the compiler has not seen. */
  readonly target: unknown;
}

/** The targets of a route: one, a list, or a block of names. */
export function targetsOf(routeId: string, to: RouteDefinition["to"]): readonly NamedTarget[] {
  if (Array.isArray(to)) {
    return to.map((target: unknown, index) => {
      const name = `${index + 1}`;
      return { bindingId: `${routeId}.${name}`, name, place: [index], target };
    });
  }
  if (typeof to !== "object" || to === null || kindOf(to) !== undefined || isTransport(to)) {
    return [{ bindingId: routeId, name: routeId, place: [], target: to }];
  }
  return Object.entries(to).map(([name, target]) => ({
    bindingId: `${routeId}.${name}`,
    name,
    place: [name],
    target: target as unknown,
  }));
}

/** A sender by itself is the target without an address. */
export function targetOf(target: Target): TargetDefinition {
  return target.kind === "target" ? target : { kind: "target", sender: target, address: "" };
}

/**
 * What a resolver says of targets by their names, said of their bindings. What it does not know stays as it is, for the schema
 * to refuse.
 */
export function resolverOf(resolver: Resolver, targets: readonly NamedTarget[]): Resolver {
  const ids = new Map<unknown, string>(targets.map(({ name, bindingId }) => [name, bindingId]));
  const idOf = (name: unknown): unknown => ids.get(name) ?? name;
  const chosen = (choice: unknown): unknown => (Array.isArray(choice) ? choice.map(idOf) : idOf(choice));
  const inRule = (rule: unknown): unknown => changed(rule, (key, value) => (key === "binding" ? chosen(value) : value));
  return changed(resolver, (key, value) => {
    if (key === "binding" || key === "default_binding") return chosen(value);
    if (key === "rules") return Array.isArray(value) ? value.map(inRule) : value;
    return key === "map" ? changed(value, (_, choice) => chosen(choice)) : value;
  }) as Resolver;
}

/** A block with other values; what is no block stays as it is. */
function changed(block: unknown, change: (key: string, value: unknown) => unknown): unknown {
  if (typeof block !== "object" || block === null || Array.isArray(block)) return block;
  return Object.fromEntries(Object.entries(block).map(([key, value]: [string, unknown]) => [key, change(key, value)]));
}
