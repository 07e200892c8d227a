import { readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** As many as Linux follows on one way. */
const MAX_LINKS = 40;

/** Which file a path means, whatever way it is written and through whatever links: for a store's `place`. */
export function filePlace(path: string): string {
  return `file ${real(resolve(path), { left: MAX_LINKS })}`;
}

/** Of what is not there yet, the folder may be, or a link that says where it will be. */
function real(path: string, links: { left: number }): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    if (folder === path) return path;
    const named = join(real(folder, links), basename(path));
    const target = links.left-- > 0 ? targetOf(named) : undefined;
    return target === undefined ? named : real(resolve(dirname(named), target), links);
  }
}

function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
