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

/** What a commit has left behind counts until the source is followed again; what is taken back until it is stored again. */
function withNotApplied(
  facts: ConfigWatch,
  transactions: Pick<ConfigTransactions, "notApplied" | "withdrawn">,
): ConfigWatch {
  const withdrawn = transactions.withdrawn();
  if (withdrawn !== undefined) return { ...facts, lastError: withdrawn };
  const left = transactions.notApplied();
  if (left === undefined || (facts.lastReloadAt ?? 0) > left.since) return facts;
  return { ...facts, lastError: facts.lastError ?? left.error };
}
