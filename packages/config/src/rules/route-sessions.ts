import type { DraftPart } from "./draft.ts";
import type { Placed, RuleContext } from "./rule-context.ts";

/** The exclusive sessions that a route's messages come over or go over, each once. */
export function exclusiveSessionsOf(context: RuleContext, route: DraftPart<"routes">): readonly Placed<"sessions">[] {
  const ids = new Set([context.find("receivers", route.receiver_id)?.part.session_id]);
  for (const id of route.bindings ?? []) {
    const binding = context.find("bindings", id)?.part;
    ids.add(binding?.session_id ?? context.find("senders", binding?.sender_id)?.part.session_id);
  }
  const sessions = [...ids].flatMap((id) => context.find("sessions", id) ?? []);
  return sessions.filter(({ part }) => part.session_mode === "exclusive");
}

/** The id of a part, as messages may show it. */
export function shownId(context: RuleContext, { part, path }: Placed<"sessions"> | Placed<"receivers">): string {
  return context.hidden.show([...path, "id"], part.id ?? "");
}
