import type { ConfigTransactions } from "@bridge/config";
import type { ConfigWatch } from "@bridge/http-monitor";
import type { ConfigFollower } from "./config-follower.ts";

/** What is known of the source of the configuration, and of the changes that were made here. */
export function configWatchOf(
  follower: Pick<ConfigFollower, "facts">,
  transactions: Pick<ConfigTransactions, "confirmable" | "notApplied" | "withdrawn">,
): ConfigWatch {
  return { ...withNotApplied(follower.facts(), transactions), probation: transactions.confirmable() };
}

/** What is taken back counts until it is stored again; what a commit has left behind until what is stored runs. */
function withNotApplied(
  facts: ConfigWatch,
  transactions: Pick<ConfigTransactions, "notApplied" | "withdrawn">,
): ConfigWatch {
  const withdrawn = transactions.withdrawn();
  if (withdrawn !== undefined) return { ...facts, lastError: withdrawn };
  return { ...facts, lastError: facts.lastError ?? transactions.notApplied()?.error };
}
