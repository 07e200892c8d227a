import type { DraftPart } from "./draft.ts";
import type { Rule, RuleContext } from "./rule-context.ts";

/** The session of a binding is its sender's, if that has one, and of its sender's transport. */
export const bindingSessions: Rule = (context) => {
  for (const { part, path } of context.parts("bindings")) {
    const found = context.find("senders", part.sender_id);
    if (found === undefined) continue;
    const sender = found.part;
    const place = [...path, "session_id"];
    if (context.blank(place)) {
      if (context.blank([...found.path, "session_id"]) && needsSession(context, sender)) {
        context.report.problem(place, "is required here or at the sender: a sender of this transport needs a session");
      }
      continue;
    }
    if (part.session_id !== undefined && sender.session_id !== undefined && sender.session_id !== part.session_id) {
      context.report.problem(place, "differs from the session_id of the sender: make them equal, or remove one");
      continue;
    }
    const session = context.find("sessions", part.session_id)?.part;
    const transport = context.transportOf(sender);
    if (session?.transport !== undefined && transport !== undefined && session.transport !== transport) {
      context.report.problem(
        place,
        "the session is of another transport than the sender: name one of the sender's transport",
      );
    }
  }
};

function needsSession(context: RuleContext, sender: DraftPart<"senders">): boolean {
  return context.registry.transports.get(context.transportOf(sender) ?? "")?.sender?.needsSession === true;
}
