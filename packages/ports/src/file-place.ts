import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** Which file a path means, whatever way it is written and through whatever links: for a store's `place`. */
export function filePlace(path: string): string {
  return `file ${real(resolve(path))}`;
}

/** Of what is not there yet, the folder may be. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(real(folder), basename(path));
  }
}
