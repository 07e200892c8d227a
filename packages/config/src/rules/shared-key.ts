import type { Rule } from "./rule-context.ts";

/** Warns of one key for both servers: whoever only looks could change everything. */
export const sharedKey: Rule = (context) => {
  const { admin_api_key: admin = "", monitor_api_key: monitor = "" } = context.draft.http ?? {};
  if (admin === "" || admin !== monitor) return;
  context.report.warning(
    ["http", "monitor_api_key"],
    "is the admin key, so that whoever may look may change everything: give the monitor server a key of its own",
  );
};
