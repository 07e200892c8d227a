import { readlinkSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * The place that `path` stands for, behind all links, whether a file is there or not: one that is made in place of a link that leads
 * to nothing yet would not lie where it was meant to.
 */
export function behindLinks(path: string): string {
  const link = linkAt(path);
  return link === undefined ? path : behindLinks(resolve(realpathSync(dirname(path)), link));
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
