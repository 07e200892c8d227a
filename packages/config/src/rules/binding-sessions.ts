import type { Rule } from "./rule-context.ts";
import { senderPlugin } from "./transports.ts";

/** The session of a binding is its sender's, if that has one, and of its sender's transport. */
export const bindingSessions: Rule = (context) => {
  for (const { part, path } of context.parts("bindings")) {
    const sender = context.find("senders", part.sender_id)?.part;
    if (sender === undefined) continue;
    const place = [...path, "session_id"];
    if (part.session_id === undefined) {
      if (sender.session_id === undefined && senderPlugin(context, part.sender_id)?.needsSession === true) {
        context.report.problem(place, "is required here or at the sender: a sender of this transport needs a session");
      }
      continue;
    }
    if (sender.session_id !== undefined && sender.session_id !== part.session_id) {
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
