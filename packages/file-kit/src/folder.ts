import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

/** Makes the folder that is to hold `path`, for its owner only, unless it is there. */
export function makeFolder(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
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
