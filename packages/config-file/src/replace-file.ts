import { chmod, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { draftOf } from "./drafts.ts";

const OWNER_ONLY = 0o600;

/**
 * Puts `bytes` in place of what the file at `path` holds, durably: whoever reads it, also after a crash, sees the one
 * or the other. Mode and owner stay; a file that is missing is made for its owner only. Only one caller at a time may
 * do this for one path. Aborting `signal` leaves the file as it was.
 *
 * @param may asked last of all, when only the name is to be changed: whoever edits by hand takes no lock. Default: it
 * may
 * @returns whether it was replaced
 */
export async function replaceFile(
  path: string,
  bytes: Uint8Array,
  signal: AbortSignal,
  may: () => Promise<boolean> = async () => true,
): Promise<boolean> {
  const former = await stat(path).catch(ifMissing(undefined));
  const draft = draftOf(path);
  await rm(draft, { force: true });
  try {
    {
      await using handle = await open(draft, "wx", OWNER_ONLY);
      const { uid, gid } = await handle.stat();
      if (former !== undefined && (former.uid !== uid || former.gid !== gid))
        await handle.chown(former.uid, former.gid);
      await handle.writeFile(bytes);
      await handle.sync();
    }
    // Last, so that nobody whom the mode lets in sees a draft, and since a change of owner may clear bits of it. Of a
    // new file, too: the umask of the process may keep even its owner from it.
    await chmod(draft, former === undefined ? OWNER_ONLY : former.mode & 0o7777);
    const replaces = await may();
    signal.throwIfAborted();
    if (!replaces) {
      await rm(draft, { force: true });
      return false;
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw error;
  }
  await syncFolderOf(path);
  return true;
}

/** Makes the names beside a path durable. Windows cannot, and need not. */
export async function syncFolderOf(path: string): Promise<void> {
  if (process.platform === "win32") return;
  await using handle = await open(dirname(path), "r");
  await handle.sync();
}

/** For `catch`: `instead` when the file is not there. */
export function ifMissing<T>(instead: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return instead;
    throw error;
  };
}
