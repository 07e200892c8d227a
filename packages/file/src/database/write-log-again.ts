import { closeSync, fdatasyncSync, openSync, readSync, rmSync, writeSync } from "node:fs";

const CHUNK_BYTES = 1024 * 1024;

/**
 * Makes durable what a log seems to hold, before SQLite brings it into its file. A page that the system could not write
 * stays in its cache as if it had: a later sync finds nothing to do and says that all is well, until the cache forgets it.
 * Only what is written again is synced again. An empty log goes, so that its name is made again, too.
 *
 * Throws what the disk throws; the log is as it was then.
 */
export function writeLogAgain(path: string): void {
  const log = `${path}-wal`;
  const handle = openLog(log);
  if (handle === undefined) return;
  try {
    const bytes = Buffer.alloc(CHUNK_BYTES);
    let at = 0;
    for (let count = read(); count > 0; count = read()) {
      for (let written = 0; written < count;)
        written += writeSync(handle, bytes, written, count - written, at + written);
      at += count;
    }
    if (at === 0) rmSync(log);
    else fdatasyncSync(handle);

    function read(): number {
      return readSync(handle as number, bytes, 0, CHUNK_BYTES, at);
    }
  } finally {
    closeSync(handle);
  }
}

function openLog(log: string): number | undefined {
  try {
    return openSync(log, "r+");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
