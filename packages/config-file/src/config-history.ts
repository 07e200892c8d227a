import type { ConfigHistory, ConfigHistoryEntry } from "@bridge/ports";
import { withEntry } from "@bridge/ports/internal";
import { entriesIn, linesOf } from "./history-lines.ts";
import { readText, MissingFileError } from "./read-text.ts";
import { replaceFile } from "./replace-file.ts";

const KEPT = 20;
/** A change holds values of a document, which has 4 MiB at most, before and after. */
const MAX_HISTORY_BYTES = 2 * KEPT * 4 * 1024 * 1024;

/** The file of the history cannot be used; the message names it, and not the document, with the remedy. */
export class HistoryFileError extends Error {
  override readonly name = "HistoryFileError";

  constructor(path: string, why: string, cause: unknown) {
    super(`${path}: ${why}: let this process read and write it, or move it away, and a new history begins`, { cause });
  }
}

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
        const entries = withEntry((await read(signal)).toReversed(), entry).slice(0, KEPT);
        await write(await place(signal), linesOf(entries.toReversed()), signal);
      }),
    list: async (signal) => (await read(signal)).toReversed(),
  };
}

async function entriesOf(path: string, signal: AbortSignal): Promise<readonly ConfigHistoryEntry[]> {
  try {
    return entriesIn(await readText(path, MAX_HISTORY_BYTES, signal));
  } catch (error) {
    if (error instanceof MissingFileError) return [];
    signal.throwIfAborted();
    throw new HistoryFileError(path, error instanceof Error ? error.message : "it cannot be read", error);
  }
}

async function write(path: string, lines: string, signal: AbortSignal): Promise<void> {
  try {
    await replaceFile(path, Buffer.from(lines), signal);
  } catch (error) {
    signal.throwIfAborted();
    const code = (error as NodeJS.ErrnoException).code ?? "it does not say why";
    throw new HistoryFileError(path, `it cannot be written (${code})`, error);
  }
}
