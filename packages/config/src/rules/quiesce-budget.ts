import type { Rule } from "./rule-context.ts";

/** Warns when the quiesce budget will be cut to the drain budget (spec 3.3). */
export const quiesceBudget: Rule = (context) => {
  const { quiesce_timeout: quiesce, drain_timeout: drain } = context.draft.bridge ?? {};
  if (quiesce === undefined || drain === undefined || quiesce <= drain) return;
  const place = ["bridge", "quiesce_timeout"];
  if (context.written(place)) {
    context.report.warning(place, "is longer than drain_timeout and is cut to it");
  }
};
