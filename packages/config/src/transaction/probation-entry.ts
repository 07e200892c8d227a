import type { ConfigHistoryEntry, Probation } from "@bridge/ports";
import type { CommitHistory } from "./commit-history.ts";

/** For the history. */
export async function entryOf(
  { version, actor }: Probation,
  history: CommitHistory,
  now: number,
): Promise<ConfigHistoryEntry> {
  return (await history.begun(version)) ?? { version, committedAt: now, actor, changes: [] };
}
