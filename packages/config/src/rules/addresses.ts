import type { Rule } from "./rule-context.ts";

const PLACEHOLDER = /\{[^{}]+\}/g;

/**
 * The address of a binding is one that its sender's transport can send to, as far as that is known before a message.
 */
export const addresses: Rule = (context) => {
  for (const { part, path } of context.parts("bindings")) {
    const sender = context.find("senders", part.sender_id)?.part;
    if (sender === undefined || part.address === undefined) continue;
    const traits = context.registry.transports.get(context.transportOf(sender) ?? "")?.sender;
    const problem = traits?.addressProblem?.(part.address.replaceAll(PLACEHOLDER, "x"));
    if (problem === undefined) continue;
    const place = [...path, "address"];
    context.report.problem(
      place,
      part.address === ""
        ? "is required: a sender of this transport needs to know where to"
        : `${context.hidden.show(place, part.address)} ${problem}`,
    );
  }
};
