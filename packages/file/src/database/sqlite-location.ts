import { pathToFileURL } from "node:url";

/**
 * What SQLite is told to open for a file that only this process may use. It keeps the index of the log in memory then.
 * As a file beside the log, mapped into memory, it would end the process without a word wherever the system cannot write a
 * page of it: on a disk that is full or was made read-only, or when somebody cuts it off. Nor does anybody learn when such a
 * page is lost, and SQLite would write over what was confirmed.
 */
export function sqliteLocation(path: string): string {
  if (process.platform === "win32") return path;
  const location = pathToFileURL(path);
  location.searchParams.set("vfs", "unix-excl");
  return location.href;
}
