import { fchmodSync, fstatSync, openSync } from "node:fs";

const OWNER_ONLY = 0o600;

/**
 * Opens a file; one that is missing is made for its owner only, whatever the umask of the process says: it may keep even the owner
 * from it.
 */
export function openOwn(path: string, flags: number | string): number {
  const file = openSync(path, flags, OWNER_ONLY);
  if ((fstatSync(file).mode & OWNER_ONLY) !== OWNER_ONLY) fchmodSync(file, OWNER_ONLY);
  return file;
}
