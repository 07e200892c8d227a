import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { FileFault } from "./file-fault.ts";
import { makeFolder } from "./folder.ts";

/**
 * Where a file really lies, as SQLite keeps its log beside that. Makes its folder.
 *
 * Throws a {@link FileFault} when no file can be there.
 */
export function realPlaceOf(written: string): string {
  const path = resolve(written);
  try {
    makeFolder(path);
    if (!existsSync(path)) return join(realpathSync(dirname(path)), basename(path));
    const there = statSync(path);
    if (!there.isFile()) throw new FileFault(path, "no_place", { cause: new Error("it is no regular file") });
    const real = realpathSync(path);
    // Log and lock lie beside the name, so that a second name of the same file would have its own.
    if (there.nlink > 1) throw severalNames(real, "a hard link: delete the other name");
    if (isMountPoint(real)) throw severalNames(real, "mounted by itself: mount its folder");
    return real;
  } catch (error) {
    throw FileFault.of(path, error) ?? error;
  }
}

function severalNames(path: string, how: string): FileFault {
  return new FileFault(path, "several_names", { cause: new Error(`it is ${how}`) });
}

/** As the kernel says; where it does not say, nothing is mounted. */
function isMountPoint(path: string): boolean {
  const mounts = "/proc/self/mountinfo";
  if (!existsSync(mounts)) return false;
  const written = path.replaceAll(/[ \t\n\\]/g, (special) => `\\${special.charCodeAt(0).toString(8).padStart(3, "0")}`);
  const lines = readFileSync(mounts, "utf8").split("\n");
  return lines.some((line) => line.split(" ")[4] === written);
}
