import { formatPath } from "../problem.ts";
import type { Kind } from "./draft.ts";
import type { Rule } from "./rule-context.ts";

const KINDS: readonly Kind[] = ["sessions", "receivers", "senders", "bindings", "processors", "routes"];

/** Ids are unique within their list. */
export const uniqueIds: Rule = function* (context) {
  for (const kind of KINDS) {
    for (const { part, path } of context.parts(kind)) {
      yield;
      const first = context.find(kind, part.id);
      if (first === undefined || first.path.at(-1) === path.at(-1)) continue;
      const place = [...path, "id"];
      const id = context.hidden.show(place, part.id);
      context.report.problem(place, `the id ${id} is taken by ${formatPath(first.path)}: choose another`);
    }
  }
};
