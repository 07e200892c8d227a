import { suggestion } from "@bridge/ports/internal";
import type { Rule } from "./rule-context.ts";

/** Every type of processor is registered. */
export const processorTypes: Rule = (context) => {
  const registered = context.registry.processors;
  for (const { part, path } of context.parts("processors")) {
    if (part.type === undefined || registered.has(part.type)) continue;
    const place = [...path, "type"];
    const hint = context.hidden.covers(place) ? "" : suggestion(part.type, registered.keys());
    const remedy = hint === "" ? `; registered: ${[...registered.keys()].join(", ") || "none"}` : hint;
    context.report.problem(place, `no processor type ${context.hidden.show(place, part.type)} is registered${remedy}`);
  }
};
