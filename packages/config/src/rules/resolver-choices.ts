import { suggestion } from "@bridge/ports/internal";
import type { Path } from "../problem.ts";
import type { DraftPart } from "./draft.ts";
import type { Rule, RuleContext } from "./rule-context.ts";

type Route = DraftPart<"routes">;

/** What one outcome of a resolver sends to. */
export interface Choice {
  readonly path: Path;
  readonly bindings: readonly (string | undefined)[];
}

/** The outcomes that a route's resolver can have, as far as they are sound. */
export function choicesOf({ resolver, bindings = [], dispatch_mode: mode }: Route, path: Path): readonly Choice[] {
  const at = (...keys: Path): Path => [...path, "resolver", ...keys];
  const choice = (place: Path, ids: Choice["bindings"] | undefined): readonly Choice[] =>
    ids === undefined ? [] : [{ path: place, bindings: ids }];
  switch (resolver?.type) {
    case undefined:
      return choice(at(), mode === "fan_out" ? bindings : bindings.slice(0, 1));
    case "all":
      return choice(at(), bindings);
    case "static":
      return choice(at("binding"), resolver.binding);
    case "rules": {
      const { rules = [], default_binding: fallback } = resolver;
      const ruled = rules.flatMap((rule, index) => choice(at("rules", index, "binding"), rule?.binding));
      return [...ruled, ...choice(at("default_binding"), fallback)];
    }
    case "header_map": {
      const { map = {}, default_binding: fallback } = resolver;
      const mapped = Object.entries(map).flatMap(([value, ids]) => choice(at("map", value), ids));
      return [...mapped, ...choice(at("default_binding"), fallback)];
    }
  }
}

/** A resolver chooses among its route's bindings: exactly one of them in `single`. */
export const resolverChoices: Rule = (context) => {
  for (const { part: route, path } of context.parts("routes")) {
    const { resolver, bindings, dispatch_mode: mode } = route;
    if (resolver?.type === undefined) continue;
    const choices = choicesOf(route, path);
    for (const choice of choices) {
      if (mode === "single" && choice.bindings.length > 1) {
        context.report.problem(
          choice.path,
          "chooses several bindings, and dispatch_mode single sends to one: choose one, or set dispatch_mode: fan_out",
        );
      }
      if (resolver.type !== "all" && bindings !== undefined) checkMembers(context, choice, bindings);
    }
    if (choices.length === 0 && isEmpty(resolver) && !context.written([...path, "resolver", "default_binding"])) {
      context.report.problem([...path, "resolver"], "never chooses a binding: give it choices, or a default_binding");
    }
  }
};

function isEmpty(resolver: NonNullable<Route["resolver"]>): boolean {
  if (resolver.type === "rules") return resolver.rules?.length === 0;
  return resolver.type === "header_map" && resolver.map !== undefined && Object.keys(resolver.map).length === 0;
}

function checkMembers(context: RuleContext, choice: Choice, bindings: readonly (string | undefined)[]): void {
  for (const [index, id] of choice.bindings.entries()) {
    if (id === undefined || bindings.includes(id)) continue;
    const element = [...choice.path, index];
    const place = context.written(element) ? element : choice.path;
    const hint = context.hidden.covers(place) ? "" : suggestion(id, context.visibleIds("bindings", bindings));
    const remedy = hint === "" ? "; add it to the bindings of the route" : hint;
    context.report.problem(place, `${context.hidden.show(place, id)} is not among the bindings of the route${remedy}`);
  }
}
