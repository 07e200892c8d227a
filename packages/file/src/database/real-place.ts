import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { FileFault } from "./file-fault.ts";
import { makeFolder } from "./folder.ts";
import { behindLinks } from "./links.ts";
import { obstacleAt } from "./obstacle.ts";

/**
 * Where a file really lies, as what belongs to it is kept beside that. Makes its folder.
 *
 * Throws a {@link FileFault} when no file can be there, or none that this process may use.
 */
export function realPlaceOf(written: string): string {
  const path = resolve(written);
  const obstacle = obstacleAt(path);
  if (obstacle !== undefined) throw obstacle;
  try {
    const place = behindLinks(path);
    makeFolder(place);
    return join(realpathSync(dirname(place)), basename(place));
  } catch (error) {
    throw FileFault.of(path, error) ?? error;
  }
}
