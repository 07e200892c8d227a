import type { Rule } from "./rule-context.ts";

/** A receiver has topics exactly when its transport has them, and each is one that can be listened to. */
export const topics: Rule = (context) => {
  for (const { part, path } of context.parts("receivers")) {
    const transport = context.transportOf(part);
    const traits = transport === undefined ? undefined : context.registry.transports.get(transport)?.receiver;
    if (traits === undefined || part.topics === undefined) continue;
    const place = [...path, "topics"];
    if (traits.topics === "required" && part.topics.length === 0) {
      context.report.problem(place, "is required: a receiver of this transport listens to at least one topic");
    }
    if (traits.topics === "refused" && part.topics.length > 0) {
      context.report.problem(place, "receivers of this transport have no topics: remove this key");
    }
    for (const [index, topic] of part.topics.entries()) {
      if (topic?.topic === undefined) continue;
      const problem = traits.topicProblem?.(topic.topic);
      const named = [...place, index, "topic"];
      if (problem !== undefined) context.report.problem(named, `${context.hidden.show(named, topic.topic)} ${problem}`);
    }
  }
};
