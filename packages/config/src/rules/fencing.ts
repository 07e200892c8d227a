import type { Placed, Rule, RuleContext } from "./rule-context.ts";
import { exclusiveSessionsOf, shownId } from "./route-sessions.ts";

const ONE_TAKES_IT =
  "listen to what gives each message to one of the instances, such as a queue or a shared subscription";
const DECLARE = "set policy.allow_unfenced: true if exactly one instance consumes it";

/**
 * In a cluster a route's source hands each message to one instance: because one alone holds its session, or because it
 * shares messages out among those that listen. An outbox is no way out: what comes without an identity of its own gets
 * another one in each instance, so that each copy is kept and delivered.
 */
export const fencing: Rule = (context) => {
  if (context.draft.bridge?.deployment_mode !== "clustered") return;
  for (const { part, path } of context.parts("routes")) {
    if (part.policy?.allow_unfenced !== false) continue;
    const receiver = context.find("receivers", part.receiver_id);
    const unfenced = receiver && unfencedSource(context, receiver);
    if (unfenced === undefined) continue;
    const place = [...path, "receiver_id"];
    const twice = part.delivery_mode === "shared_outbox" ? "keep and deliver it" : "deliver it";
    context.report.problem(
      place,
      `in deployment_mode clustered each instance would take every message of ${unfenced.what} and ${twice} once more: ${unfenced.remedies}, or ${DECLARE}`,
    );
  }
};

/**
 * Two exclusive sessions may be held by two instances, and then neither could carry a message from one to the other.
 */
export const oneExclusiveSession: Rule = (context) => {
  if (context.draft.bridge?.deployment_mode !== "clustered") return;
  for (const { part, path } of context.parts("routes")) {
    const ids = exclusiveSessionsOf(context, part).map((session) => shownId(context, session));
    if (ids.length < 2) continue;
    context.report.problem(
      path,
      `goes over the exclusive sessions ${ids.join(" and ")}, which different instances may hold at a time: make all but the one that it receives from persistent`,
    );
  }
};

interface Unfenced {
  readonly what: string;
  readonly remedies: string;
}

/** What of a receiver every instance would get; `undefined` when there is nothing, or nothing is known. */
function unfencedSource(context: RuleContext, placed: Placed<"receivers">): Unfenced | undefined {
  const { part: receiver, path } = placed;
  const session = context.find("sessions", receiver.session_id)?.part;
  const traits = context.registry.transports.get(context.transportOf(receiver) ?? "")?.receiver;
  if (traits === undefined || session?.session_mode === "exclusive" || traits.competing === true) return undefined;
  const exclusive = session === undefined ? "" : "make its session exclusive, ";
  const remedies = `${exclusive}${ONE_TAKES_IT}`;
  const { competing } = traits;
  const whole = { what: `receiver ${shownId(context, placed)}`, remedies };
  if (typeof competing !== "function") return whole;
  if (traits.topics === "refused") return competing("", receiver.options) ? undefined : whole;
  const broadcast = (receiver.topics ?? []).flatMap((topic, index) =>
    topic?.topic === undefined || competing(topic.topic, receiver.options)
      ? []
      : context.hidden.show([...path, "topics", index, "topic"], topic.topic),
  );
  if (broadcast.length === 0) return undefined;
  return { what: `receiver ${shownId(context, placed)} (${broadcast.join(", ")})`, remedies };
}
