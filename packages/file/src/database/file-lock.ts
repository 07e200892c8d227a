import { accessSync, closeSync, constants, existsSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { BridgeError } from "@bridge/ports";
import { FileFault } from "./file-fault.ts";
import { openOwn } from "./own-file.ts";

/**
 * Takes `path` for this process alone. The lock is one of the operating system's, on a file of its own beside the
 * other: it ends with the process, however that ends, so that there are no stale ones.
 *
 * Throws a {@link BridgeError} when somebody has it already, this process included.
 */
export function lockFile(path: string): Disposable {
  const lock = tryLockFile(path);
  if (lock !== undefined) return lock;
  throw new BridgeError(
    "UNAVAILABLE",
    `${path} is in use: only one process at a time may open it; end the other one, or name another path`,
    { charged: false },
  );
}

/** The same, but `undefined` when somebody has it already. */
export function tryLockFile(path: string): Disposable | undefined {
  const lockPath = `${path}-lock`;
  try {
    usable(lockPath, path);
    const holder = new DatabaseSync(lockPath);
    try {
      // Never committed: the file stays empty.
      holder.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    } catch (error) {
      holder.close();
      throw error;
    }
    return { [Symbol.dispose]: () => holder.close() };
  } catch (error) {
    const fault = FileFault.of(path, error);
    if (fault?.fault === "busy") return undefined;
    throw fault ?? error;
  }
}

function usable(lockPath: string, path: string): void {
  try {
    create(lockPath);
    if (!statSync(lockPath).isFile())
      throw new BridgeError(
        "UNAVAILABLE",
        `${lockPath} is no file, and the lock of ${path} cannot be taken: move it away`,
        { charged: false },
      );
    // SQLite does not say that it may not.
    accessSync(lockPath, constants.R_OK | constants.W_OK);
  } catch (error) {
    throw FileFault.of(lockPath, error) ?? error;
  }
}

/**
 * Only if it is missing. One that is there is never opened here: closing it again would take the lock from whoever
 * holds it in this process, for that is how locks work on POSIX systems.
 */
function create(lockPath: string): void {
  if (existsSync(lockPath)) return;
  try {
    closeSync(openOwn(lockPath, "wx"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
