import { renameSync } from "node:fs";

/** Sets a damaged file aside, with its log, under a name that says when. Returns the new path. */
export function quarantine(path: string, now: number): string {
  const time = new Date(now).toISOString().replaceAll(/[-:.]/g, "");
  const aside = `${path}.damaged-${time}`;
  for (const suffix of ["", "-wal", "-shm"]) {
    try {
      renameSync(path + suffix, aside + suffix);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  return aside;
}
