import { chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Makes the folder that is to hold `path`, for its owner only, unless it is there. One level at a time: where none can
 * be made, as below `/proc`, Node tries to make all of them for ever.
 */
export function makeFolder(path: string): void {
  const missing: string[] = [];
  let folder = dirname(resolve(path));
  for (; !existsSync(folder); folder = dirname(folder)) missing.push(folder);
  for (const each of missing.toReversed()) {
    try {
      mkdirSync(each, { mode: 0o700 });
      // Whatever the umask of the process says.
      chmodSync(each, 0o700);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

/** Makes the names in the folder of `path` durable. Windows cannot, and need not. */
export function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const handle = openSync(dirname(path), "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
