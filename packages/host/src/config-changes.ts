import type { ConfigTransactions } from "@bridge/config";
import type { ConfigWatch } from "@bridge/http-monitor";
import type { ConfigChanges } from "@bridge/telemetry";
import type { ConfigFollower } from "./config-follower.ts";

/** What is counted of changes of the configuration, whichever way they came. */
export function configChanges(
  { lastReloadAt, lastError }: ConfigWatch,
  follower: Pick<ConfigFollower, "reloads">,
  transactions: Pick<ConfigTransactions, "confirmable" | "leftElsewhere" | "outcomes" | "reverts">,
): ConfigChanges {
  return {
    reloads: follower.reloads(),
    lastReloadAt,
    failing: lastError !== undefined,
    transactions: transactions.outcomes(),
    confirmBy: transactions.confirmable()?.confirmBy,
    leftConfirmBy: transactions.leftElsewhere()?.confirmBy,
    reverts: transactions.reverts(),
  };
}
