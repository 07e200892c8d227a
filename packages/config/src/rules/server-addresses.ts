import { hostAndPort, meet } from "./listening.ts";
import type { Rule } from "./rule-context.ts";

/** The two servers listen apart. Needs nothing but the block, so that it is told with whatever else is wrong. */
export const serverAddresses: Rule = (context) => {
  const { admin_addr: admin, monitor_addr: monitor } = context.draft.http ?? {};
  if (admin === undefined || monitor === undefined || !meet(hostAndPort(admin), hostAndPort(monitor))) return;
  context.report.problem(
    ["http", "monitor_addr"],
    "http.admin_addr listens on this address already: give each an address of its own",
  );
};
