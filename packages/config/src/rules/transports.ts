import { suggestion } from "@bridge/ports/internal";
import type { Path } from "../problem.ts";
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

interface Linked {
  readonly transport?: string | undefined;
  readonly session_id?: string | undefined;
}

function checkLinked(context: RuleContext, half: "receiver" | "sender", part: Linked, path: Path): void {
  const own = [...path, "transport"];
  const session = context.find("sessions", part.session_id);
  const inherited = session?.part.transport;
  if (part.transport === "") {
    if (context.blank([...path, "session_id"])) {
      context.report.problem(own, `is required: name a transport, or a session_id whose transport the ${half} takes`);
    }
    if (session !== undefined && inherited !== undefined && context.registry.transports.has(inherited)) {
      requireHalf(context, half, inherited, [...path, "session_id"], [...session.path, "transport"]);
    }
  } else if (part.transport !== undefined) {
    requireHalf(context, half, part.transport, own);
    if (inherited !== undefined && inherited !== part.transport) {
      context.report.problem(own, "differs from the transport of the session: make them equal, or remove this key");
    }
  }
  const plugin = context.registry.transports.get(context.transportOf(part) ?? "");
  const place = [...path, "session_id"];
  if (half === "receiver" && plugin?.receiver?.needsSession === true && context.blank(place)) {
    context.report.problem(place, "is required: a receiver of this transport needs a session");
  }
}

/** The transport that is named at `named` must be there and have this half; what is wrong is told at `path`. */
function requireHalf(context: RuleContext, half: Half, transport: string, path: Path, named: Path = path): void {
  const { transports: registered } = context.registry;
  const plugin = registered.get(transport);
  if (plugin?.[half] !== undefined) return;
  const shown = context.hidden.show(named, transport);
  if (plugin !== undefined) {
    const others = [...registered.values()].filter((other) => other[half] !== undefined).map((other) => other.type);
    context.report.problem(
      path,
      `the transport ${shown} has no ${half}s; those that have: ${others.join(", ") || "none"}`,
    );
    return;
  }
  const program = context.hidden.covers(named) ? undefined : context.registry.elsewhere.get(transport);
  const hint = context.hidden.covers(named) ? "" : suggestion(transport, registered.keys());
  const remedy =
    program !== undefined
      ? `; ${program} has it`
      : hint === ""
        ? `; registered: ${[...registered.keys()].join(", ") || "none"}`
        : hint;
  context.report.problem(path, `no transport ${shown} is registered${remedy}`);
}
