import { access, constants } from "node:fs/promises";
import { dirname } from "node:path";
import { tryLockFile } from "@bridge/file/internal";
import { probationOf } from "./drafts.ts";

/** The lock of the note of a document at `target`; `undefined` when another process has it. */
export function lockOf(target: string): Disposable | undefined {
  try {
    return tryLockFile(probationOf(target));
  } catch (error) {
    if (!isReadOnlyDisk(error)) throw error;
    // Nobody can lock anything there, nor begin anything.
    return { [Symbol.dispose]: () => {} };
  }
}

/** Whether nobody can tell by a lock who runs. */
export function isUnlockable(target: string): Promise<boolean> {
  return access(dirname(target), constants.W_OK).then(() => false, isReadOnlyDisk);
}

function isReadOnlyDisk(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause)
    if ((each as NodeJS.ErrnoException).code === "EROFS") return true;
  return false;
}
