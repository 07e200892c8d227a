import {
  accessSync,
  constants,
  existsSync,
  readFileSync,
  realpathSync,
  type Stats,
  statfsSync,
  statSync,
} from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { FileFault } from "./file-fault.ts";
import { behindLinks } from "./links.ts";

/** Kernels show what they know there and keep nothing. */
const KERNEL_FILES: ReadonlySet<number> = new Set([0x9fa0, 0x62656572]);
/** The longest name that is made beside a file that is kept. */
const LONGEST_BESIDE = "-new-journal";
const LOCK = "-lock";
const BESIDE = [LOCK, "-mark", "-wal"];
/** What the system says of a name. */
const NAMES: Readonly<Record<string, string>> = {
  ENAMETOOLONG: "has a longer name than this file system takes",
  ELOOP: "is a link that leads in a circle",
};
const NAME_A_FILE = "name a file, which is made when it is missing";
const ALLOW = "let the user that the bridge runs as do that (chown, chmod), or name another path";

/**
 * What keeps this process from keeping a file at `path`, or what belongs beside it: the wrong kind of thing, or a permission.
 * `undefined` when nothing is seen to. Makes nothing and opens nothing, a lock that somebody holds least of all.
 */
export function obstacleAt(path: string): FileFault | undefined {
  try {
    look(resolve(path));
    return undefined;
  } catch (error) {
    const what = NAMES[codeOf(error)];
    const fault = what === undefined ? FileFault.of(path, error) : noPlace(path, what);
    if (fault === undefined) throw error;
    return fault;
  }
}

/** What a failed attempt to use the file at `path` says: SQLite does not tell what was in the way. */
export function faultAt(path: string, thrown: unknown): FileFault | undefined {
  const fault = FileFault.of(path, thrown);
  const isVague = fault !== undefined && ["read_only", "forbidden", "failing"].includes(fault.fault);
  return isVague ? (obstacleAt(path) ?? fault) : fault;
}

function look(path: string): void {
  const there = lookAt(path);
  if (there?.isFile() === false) throw noPlace(path, there.isDirectory() ? "is a folder" : "is no regular file");
  const place = behindLinks(path);
  lookAtFolder(path, place);
  if (there !== undefined) lookAtNames(path, there);
  // Names that are too long are told by the system.
  else statSync(place + LONGEST_BESIDE, { throwIfNoEntry: false });
  if (there !== undefined && !mayUse(place)) throw forbidden(path, "is a file that this user may not read and write");
  for (const part of BESIDE) lookBeside(path, place, part);
}

/** Folders are made as far as they are missing. A file needs more than itself, so one that is there has to be in such a folder, too. */
function lookAtFolder(path: string, place: string): void {
  for (let folder = dirname(place); ; folder = dirname(folder)) {
    const kind = lookAt(folder);
    if (kind === undefined) continue;
    const named = JSON.stringify(folder);
    if (!kind.isDirectory()) throw noPlace(path, `lies below ${named}, which is no folder`);
    if (KERNEL_FILES.has(statfsSync(folder).type)) throw noPlace(path, `lies in ${named}, where nothing can be kept`);
    if (may(folder, constants.W_OK | constants.X_OK)) return;
    throw forbidden(path, `lies in ${named}, a folder that this user may not write to`);
  }
}

function lookBeside(path: string, place: string, part: string): void {
  const beside = lookAt(place + part);
  if (beside === undefined) return;
  const named = `has ${JSON.stringify(basename(place + part))} beside it, which`;
  if (!beside.isFile()) throw noPlace(path, `${named} is no file`);
  // Of ours it is empty.
  if (part === LOCK && beside.size > 0) throw noPlace(path, `${named} is no lock of a bridge`);
  if (!mayUse(place + part)) throw forbidden(path, `${named} this user may not read and write`);
}

/** Log and lock lie beside the name, so that a second name of the same file would have its own. */
function lookAtNames(path: string, { nlink }: Stats): void {
  if (nlink > 1) throw severalNames(path, "a hard link", "delete the other name, which find -samefile tells");
  if (isMountPoint(realpathSync(path)))
    throw severalNames(path, "as it is mounted by itself", "mount its folder instead");
}

/** As the kernel says; where it does not say, nothing is mounted. */
function isMountPoint(path: string): boolean {
  const mounts = "/proc/self/mountinfo";
  if (!existsSync(mounts)) return false;
  const written = path.replaceAll(/[ \t\n\\]/g, (special) => `\\${special.charCodeAt(0).toString(8).padStart(3, "0")}`);
  const lines = readFileSync(mounts, "utf8").split("\n");
  return lines.some((line) => line.split(" ")[4] === written);
}

/** `undefined` when nothing is there, or when a folder above it says why nobody can know. */
function lookAt(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (["ENOTDIR", "EACCES"].includes(codeOf(error))) return undefined;
    throw error;
  }
}

function mayUse(path: string): boolean {
  return may(path, constants.R_OK | constants.W_OK);
}

/** A disk that is read-only is not about permissions, and thrown. */
function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch (error) {
    if (["EACCES", "EPERM"].includes(codeOf(error))) return false;
    throw error;
  }
}

function noPlace(path: string, what: string): FileFault {
  return new FileFault(path, "no_place", { words: `${what}: ${NAME_A_FILE}` });
}

function forbidden(path: string, what: string): FileFault {
  return new FileFault(path, "forbidden", { words: `${what}: ${ALLOW}` });
}

function severalNames(path: string, how: string, remedy: string): FileFault {
  const what = `has another name, ${how}, under which a second process could write to it with a log of its own`;
  return new FileFault(path, "several_names", { words: `${what}: ${remedy}` });
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}
