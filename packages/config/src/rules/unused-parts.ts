import type { Kind } from "./draft.ts";
import type { Rule } from "./rule-context.ts";

/** Warns of parts that nothing names: mostly a name was forgotten. */
export const unusedParts: Rule = function* (context) {
  const routes = context.parts("routes").map(({ part }) => part);
  const bindings = context.parts("bindings").map(({ part }) => part);
  const linked = [...context.parts("receivers"), ...context.parts("senders")].map(({ part }) => part);
  const named: Readonly<Partial<Record<Kind, readonly (string | undefined)[]>>> = {
    receivers: routes.map((route) => route.receiver_id),
    bindings: routes.flatMap((route) => route.bindings ?? []),
    processors: routes.flatMap((route) => route.processors ?? []),
    senders: bindings.map((binding) => binding.sender_id),
    sessions: [...linked, ...bindings].map((part) => part.session_id),
  };
  for (const [kind, ids] of Object.entries(named) as readonly (readonly [Kind, readonly (string | undefined)[]])[]) {
    const used = new Set(ids);
    for (const { part, path } of context.parts(kind)) {
      yield;
      if (part.id === undefined || used.has(part.id)) continue;
      const shown = context.hidden.show([...path, "id"], part.id);
      context.report.warning(path, `nothing uses the ${kind.slice(0, -1)} ${shown}`, `${kind} that nothing uses`);
    }
  }
};
