import { stopBudget } from "../stop-budget.ts";
import type { Rule } from "./rule-context.ts";

/** Warns when the quiesce budget will be cut, so that all of a stop fits into the drain budget (spec 3.3). */
export const quiesceBudget: Rule = (context) => {
  const { quiesce_timeout: quiesce, drain_timeout: drain } = context.draft.bridge ?? {};
  if (quiesce === undefined || drain === undefined) return;
  const { quiesceMs } = stopBudget({ drainTimeoutMs: drain, quiesceTimeoutMs: quiesce });
  if (quiesce <= quiesceMs) return;
  const place = ["bridge", "quiesce_timeout"];
  if (context.written(place)) {
    context.report.warning(
      place,
      `is cut to ${quiesceMs} ms: drain_timeout holds it and what cancelled work needs to end`,
    );
  }
};
