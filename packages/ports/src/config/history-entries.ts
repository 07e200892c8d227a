import type { ConfigHistoryEntry } from "./config-history.ts";

/** Which of the entries that are `known`, the newest first, `entry` takes the place of; -1 for none. */
export function replacedEntry(known: readonly (ConfigHistoryEntry | undefined)[], entry: ConfigHistoryEntry): number {
  return known.findIndex((each) => {
    if (each === undefined) return false;
    if (each.pending === true) return each.version <= entry.version;
    return each.version === entry.version && each.committedAt === entry.committedAt;
  });
}

/** A history as it is listed: `entries`, of which the last one that was appended comes first, by their versions. */
export function byVersion(entries: readonly ConfigHistoryEntry[]): readonly ConfigHistoryEntry[] {
  // One that somebody has edited may have no version: it stays where it is.
  return entries.toSorted((a, b) => b.version - a.version || 0);
}

/** A history, the newest first, once `entry` is appended to what is `known`. */
export function withEntry(
  known: readonly ConfigHistoryEntry[],
  entry: ConfigHistoryEntry,
): readonly ConfigHistoryEntry[] {
  const replaced = replacedEntry(known, entry);
  return byVersion([entry, ...known.filter((_, index) => index !== replaced)]);
}
