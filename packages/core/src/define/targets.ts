import type { BridgeDocument } from "@bridge/config";
import type { TargetDefinition } from "@bridge/ports";
import type { RouteDefinition, Target } from "./bridge-definition.ts";
import { kindOf } from "./part-kinds.ts";

type Resolver = NonNullable<NonNullable<BridgeDocument["routes"]>[number]["resolver"]>;
type Choice = string | readonly string[];

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
  if (typeof to !== "object" || to === null || kindOf(to) !== undefined) {
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

/** What a resolver says of targets by their names, said of their bindings. */
export function resolverOf(resolver: Resolver, targets: readonly NamedTarget[]): Resolver {
  const ids = new Map(targets.map(({ name, bindingId }) => [name, bindingId]));
  const idOf = (name: string): string => ids.get(name) ?? name;
  const chosen = (choice: Choice): Choice => (typeof choice === "string" ? idOf(choice) : choice.map(idOf));
  const byDefault = ({ default_binding: choice }: { readonly default_binding?: Choice | undefined }) =>
    choice === undefined ? {} : { default_binding: chosen(choice) };
  switch (resolver.type) {
    case "all":
      return resolver;
    case "static":
      return { ...resolver, binding: chosen(resolver.binding) };
    case "rules": {
      const rules = resolver.rules?.map((rule) => ({ ...rule, binding: chosen(rule.binding) }));
      return { ...resolver, ...(rules !== undefined && { rules }), ...byDefault(resolver) };
    }
    case "header_map": {
      const map = Object.fromEntries(
        Object.entries(resolver.map).map(([value, choice]) => [value, chosen(choice)] as const),
      );
      return { ...resolver, map, ...byDefault(resolver) };
    }
  }
}
