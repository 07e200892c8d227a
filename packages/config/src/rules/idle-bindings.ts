import { choicesOf } from "./resolver-choices.ts";
import type { Rule } from "./rule-context.ts";

/** Warns of a route's bindings that no outcome of its resolver sends to. */
export const idleBindings: Rule = (context) => {
  for (const { part: route, path } of context.parts("routes")) {
    const chosen = new Set(choicesOf(route, path).flatMap((choice) => choice.bindings));
    for (const [index, id] of (route.bindings ?? []).entries()) {
      if (chosen.has(id)) continue;
      const place = [...path, "bindings", index];
      const remedy =
        route.resolver === undefined
          ? "without a resolver, single sends to the first one only: add a resolver, or set dispatch_mode: fan_out"
          : "the resolver never chooses it";
      context.report.warning(
        place,
        `${context.hidden.show(place, id)} gets no message: ${remedy}`,
        "bindings that get no message",
      );
    }
  }
};
