import type { ConfigHistory, ConfigHistoryEntry } from "@bridge/ports";
import { readText, MissingFileError } from "./read-text.ts";
import { replaceFile } from "./replace-file.ts";

const KEPT = 20;
/** A change holds values of a document, which has 4 MiB at most, before and after. */
const MAX_HISTORY_BYTES = 2 * KEPT * 4 * 1024 * 1024;

/** Committed changes in a file of JSON lines, the oldest first. `exclusively` keeps other writers away meanwhile. */
export function configHistory(
  place: (signal: AbortSignal) => Promise<string>,
  exclusively: <T>(signal: AbortSignal, write: () => Promise<T>) => Promise<T>,
): ConfigHistory {
  const read = async (signal: AbortSignal): Promise<readonly ConfigHistoryEntry[]> =>
    entriesOf(await place(signal), signal);
  return {
    append: (entry, signal) =>
      exclusively(signal, async () => {
        const former = await read(signal);
        const known = former.at(-1)?.pending === true ? former.slice(0, -1) : former;
        const entries = [...known, entry].slice(-KEPT);
        const lines = entries.map((each) => `${JSON.stringify(each)}\n`).join("");
        await replaceFile(await place(signal), Buffer.from(lines), signal);
      }),
    list: async (signal) => (await read(signal)).toReversed(),
  };
}

async function entriesOf(path: string, signal: AbortSignal): Promise<readonly ConfigHistoryEntry[]> {
  let text: string;
  try {
    text = await readText(path, MAX_HISTORY_BYTES, signal);
  } catch (error) {
    if (error instanceof MissingFileError) return [];
    throw error;
  }
  return text.split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line) as ConfigHistoryEntry];
    } catch {
      // The empty end, or a line that somebody has edited: the others still tell what they know.
      return [];
    }
  });
}
