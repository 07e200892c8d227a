import type { ConfigHistoryEntry } from "@bridge/ports";

/** How a line begins that {@link linesOf} has written. */
const BEGINNING =
  /^\{"version":(?<version>\d{1,15}),(?:"committedAt":(?<committedAt>\d{1,15}),(?:"actor":(?<actor>"(?:[^"\\]|\\.)*"))?)?/;

export function linesOf(entries: readonly ConfigHistoryEntry[]): string {
  return entries
    .map(({ version, committedAt, actor, ...rest }) => `${JSON.stringify({ version, committedAt, actor, ...rest })}\n`)
    .join("");
}

/**
 * The entries of a history, the oldest first. What cannot be read is left out, as the others still tell what they know; but of a last
 * line that was cut off nobody knows what became of its change: it is pending, with as much as there is of it.
 */
export function entriesIn(text: string): readonly ConfigHistoryEntry[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.flatMap((line, index) => {
    try {
      return [JSON.parse(line) as ConfigHistoryEntry];
    } catch {
      const torn = index === lines.length - 1 ? tornEntry(line) : undefined;
      return torn === undefined ? [] : [torn];
    }
  });
}

/** `undefined` when not even its version is there. */
function tornEntry(line: string): ConfigHistoryEntry | undefined {
  const { version, committedAt = "0", actor = '""' } = BEGINNING.exec(line)?.groups ?? {};
  if (version === undefined) return undefined;
  const name = JSON.parse(actor) as string;
  return { version: Number(version), committedAt: Number(committedAt), actor: name, changes: [], pending: true };
}
