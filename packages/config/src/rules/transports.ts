import type { TransportPlugin } from "@bridge/ports";
import type { Path } from "../problem.ts";
import { suggestion } from "../suggestion.ts";
import type { Rule, RuleContext } from "./rule-context.ts";

type Half = "session" | "receiver" | "sender";

/** Every transport is registered and has the part asked for; a part on a session is of that session's transport. */
export const transports: Rule = (context) => {
  for (const { part, path } of context.parts("sessions")) {
    if (part.transport !== undefined) requireHalf(context, "session", part.transport, [...path, "transport"]);
  }
  for (const half of ["receiver", "sender"] as const) {
    for (const { part, path } of context.parts(`${half}s`)) checkLinked(context, half, part, path);
  }
};

function checkLinked(
  context: RuleContext,
  half: "receiver" | "sender",
  part: { readonly transport?: string | undefined; readonly session_id?: string | undefined },
  path: Path,
): void {
  const own = [...path, "transport"];
  const session = context.find("sessions", part.session_id)?.part;
  if (part.transport === "" && part.session_id === undefined) {
    context.report.problem(own, `is required: name a transport, or a session_id whose transport the ${half} takes`);
    return;
  }
  if (part.transport !== undefined && part.transport !== "") {
    requireHalf(context, half, part.transport, own);
    if (session?.transport !== undefined && session.transport !== part.transport) {
      context.report.problem(
        own,
        `is ${context.hidden.show(own, part.transport)}, but the session's transport is another: make them equal, or remove this key`,
      );
    }
  } else if (session?.transport !== undefined && context.registry.transports.has(session.transport)) {
    requireHalf(context, half, session.transport, [...path, "session_id"]);
  }
  const transport = context.transportOf(part);
  const plugin = transport === undefined ? undefined : context.registry.transports.get(transport);
  if (half === "receiver" && plugin?.receiver?.needsSession === true && part.session_id === undefined) {
    context.report.problem([...path, "session_id"], "is required: a receiver of this transport needs a session");
  }
}

function requireHalf(context: RuleContext, half: Half, transport: string, path: Path): void {
  const { transports: registered } = context.registry;
  const plugin = registered.get(transport);
  const shown = context.hidden.show(path, transport);
  if (plugin !== undefined) {
    if (plugin[half] !== undefined) return;
    const others = [...registered.values()].filter((other) => other[half] !== undefined).map((other) => other.type);
    context.report.problem(
      path,
      `the transport ${shown} has no ${half}s; those that have: ${others.join(", ") || "none"}`,
    );
    return;
  }
  const hint = context.hidden.covers(path) ? "" : suggestion(transport, registered.keys());
  const remedy = hint === "" ? `; registered: ${[...registered.keys()].join(", ") || "none"}` : hint;
  context.report.problem(path, `no transport ${shown} is registered${remedy}`);
}

export function senderPlugin(context: RuleContext, senderId: string | undefined): TransportPlugin["sender"] {
  const sender = context.find("senders", senderId)?.part;
  const transport = sender === undefined ? undefined : context.transportOf(sender);
  return transport === undefined ? undefined : context.registry.transports.get(transport)?.sender;
}
