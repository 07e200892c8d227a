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
 * The entries of a history, the oldest first. What cannot be read, or is no entry, is left out, as the others still
 * tell what they know. But of a last line that was cut off nobody knows what became of its change: it is pending, with
 * as much as there is of it.
 */
export function entriesIn(text: string): readonly ConfigHistoryEntry[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.flatMap((line, index) => {
    try {
      const read: unknown = JSON.parse(line);
      return isEntry(read) ? [read] : [];
    } catch {
      const torn = index === lines.length - 1 ? tornEntry(line) : undefined;
      return torn === undefined ? [] : [torn];
    }
  });
}

/** Whatever stands there: somebody may have put it there by hand. */
function isEntry(read: unknown): read is ConfigHistoryEntry {
  if (!isMap(read)) return false;
  const { version, committedAt, actor, changes, pending, reverted } = read;
  const isReversal = isMap(reverted) && isTime(reverted["at"]) && typeof reverted["why"] === "string";
  return (
    Number.isSafeInteger(version) &&
    isTime(committedAt) &&
    typeof actor === "string" &&
    Array.isArray(changes) &&
    changes.every((change) => isMap(change) && typeof change["path"] === "string") &&
    (pending === undefined || pending === true) &&
    (reverted === undefined || isReversal)
  );
}

function isMap(read: unknown): read is Readonly<Record<string, unknown>> {
  return typeof read === "object" && read !== null && !Array.isArray(read);
}

/** Of a moment that there is. */
function isTime(read: unknown): boolean {
  return typeof read === "number" && !Number.isNaN(new Date(read).getTime());
}

/** `undefined` when not even its version is there. */
function tornEntry(line: string): ConfigHistoryEntry | undefined {
  const { version, committedAt = "0", actor = '""' } = BEGINNING.exec(line)?.groups ?? {};
  if (version === undefined) return undefined;
  const name = JSON.parse(actor) as string;
  return { version: Number(version), committedAt: Number(committedAt), actor: name, changes: [], pending: true };
}
