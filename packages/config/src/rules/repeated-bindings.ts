import type { Path } from "../problem.ts";
import type { Rule } from "./rule-context.ts";
import { choicesOf } from "./resolver-choices.ts";

/** A list of bindings names each of them once: a message is not sent twice to one. */
export const repeatedBindings: Rule = (context) => {
  for (const { part: route, path } of context.parts("routes")) {
    const own = { path: [...path, "bindings"], bindings: route.bindings ?? [] };
    const chosen = route.resolver === undefined ? [] : choicesOf(route, path);
    for (const list of [own, ...chosen.filter((choice) => choice.bindings !== route.bindings)]) {
      for (const place of repeats(list.path, list.bindings)) {
        context.report.problem(place, "names a binding that the list has already: remove it");
      }
    }
  }
};

function* repeats(path: Path, bindings: readonly (string | undefined)[]): Generator<Path> {
  const seen = new Set<string>();
  for (const [index, id] of bindings.entries()) {
    if (id === undefined) continue;
    if (seen.has(id)) yield [...path, index];
    seen.add(id);
  }
}
