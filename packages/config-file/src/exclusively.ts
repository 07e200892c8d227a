import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { tryLockFile } from "@bridge/file/internal";
import { type Clock, ReadOnlyConfigError } from "@bridge/ports";
import { HistoryFileError } from "./config-history.ts";

const RETRY_MS = 10;
const READ_ONLY_CODES: ReadonlySet<string | undefined> = new Set(["EACCES", "EPERM", "EROFS"]);

/**
 * Runs `write` while no other process, and nobody else in this one, writes to the file at `path`. The lock is the
 * operating system's, on a file beside it: it ends with its process, so that there are no stale ones.
 * @throws ReadOnlyConfigError when the file or its folder cannot be written to, or when the file has another name
 */
export async function exclusively<T>(
  path: string,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  write: () => Promise<T>,
): Promise<T> {
  try {
    await demandWritable(path);
    using _ = await lockOf(path, clock, signal);
    return await write();
  } catch (error) {
    throw !(error instanceof HistoryFileError) && isReadOnly(error)
      ? new ReadOnlyConfigError(
          `${path} cannot be written to, with its owner and mode: make the file and its folder writable for this process, or change it at its source`,
          { cause: error },
        )
      : error;
  }
}

/**
 * A file with another name would come apart; one that nobody may write to is meant to stay, though the superuser could.
 */
async function demandWritable(path: string): Promise<void> {
  const { mode, nlink } = await stat(path);
  // A new file takes the place of one name only.
  if (nlink > 1)
    throw new ReadOnlyConfigError(
      `${path} has another name, a hard link, which a write would leave at what it is now: use a symbolic link or a copy instead`,
    );
  if ((mode & 0o222) === 0) throw Object.assign(new Error("the file has no mode to write"), { code: "EACCES" });
  await access(path, constants.W_OK);
  await access(dirname(path), constants.W_OK);
}

async function lockOf(path: string, clock: Clock, signal: AbortSignal): Promise<Disposable> {
  for (;;) {
    signal.throwIfAborted();
    const lock = tryLockFile(path);
    if (lock !== undefined) return lock;
    await clock.delay(RETRY_MS, signal);
  }
}

/** Of an error, or of what caused it. */
function isReadOnly(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (READ_ONLY_CODES.has((each as NodeJS.ErrnoException).code)) return true;
  }
  return false;
}
