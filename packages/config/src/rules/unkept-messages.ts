import type { Rule } from "./rule-context.ts";

const LOSING = "routes that lose what is in flight when they stop";

/** Warns of a `direct_hold` route whose source forgets what was not settled: a restart loses what was in flight. */
export const unkeptMessages: Rule = (context) => {
  for (const { part: route, path } of context.parts("routes")) {
    const receiver = context.find("receivers", route.receiver_id)?.part;
    if (route.delivery_mode !== "direct_hold" || receiver === undefined) continue;
    const transport = context.transportOf(receiver);
    const traits = transport === undefined ? undefined : context.registry.transports.get(transport)?.receiver;
    const session = context.find("sessions", receiver.session_id);
    if (traits?.redelivers === "never") {
      const shown = context.hidden.show([...path, "receiver_id"], route.receiver_id);
      context.report.warning(
        [...path, "delivery_mode"],
        `the receiver ${shown} does not keep messages that are in flight when the bridge ends: they are lost with direct_hold`,
        LOSING,
      );
    }
    if (traits?.redelivers === "persistent-session" && session?.part.session_mode === "ephemeral") {
      const shown = context.hidden.show([...session.path, "id"], session.part.id);
      context.report.warning(
        [...path, "delivery_mode"],
        `the session ${shown} is ephemeral, so its broker forgets messages that are in flight when the connection ends: they are lost with direct_hold; make it persistent`,
        LOSING,
      );
    }
  }
};
