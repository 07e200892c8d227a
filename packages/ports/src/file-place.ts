import { readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** As many as Linux follows on one way. */
const MAX_LINKS = 40;
const FILE = "file ";
/** What the bridge makes beside a file that it keeps, by how the name goes on: logs, locks, drafts, what is set aside, full files. */
const BESIDE = String.raw`(?:\.damaged-[^/\\]+|\.\d{16})?(?:-new)?(?:-(?:lock|mark|wal|shm))?(?:-journal)?(?:\.acknowledged)?`;

/** Which file a path means, whatever way it is written and through whatever links: for a store's `place`. */
export function filePlace(path: string): string {
  return `${FILE}${real(resolve(path), { left: MAX_LINKS })}`;
}

/**
 * Whether the file at `place` would be the one that the bridge keeps at `kept`, one that it makes beside it, or in a folder in place of
 * one of these. Both are as {@link filePlace} tells them.
 *
 * @param more what it makes there, too, as a pattern of how the name goes on. Default: nothing
 */
export function isBesideFile(place: string, kept: string, more = ""): boolean {
  if (!kept.startsWith(FILE) || !folded(place).startsWith(folded(kept))) return false;
  const ignored = ignoresCase(kept.slice(FILE.length));
  const [file, own] = ignored ? [folded(place), folded(kept)] : [place, kept];
  const named = new RegExp(String.raw`^(?:${more})?${BESIDE}(?:[/\\]|$)`, ignored ? "i" : "");
  return file.startsWith(own) && named.test(file.slice(own.length));
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

/** Whether the file system takes another case for the same name; of what is not there, the folder tells. */
function ignoresCase(path: string): boolean {
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    const name = basename(at);
    const other = join(dirname(at), name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase());
    const there = other === at ? undefined : statSync(at, { throwIfNoEntry: false });
    if (there === undefined) continue;
    const same = statSync(other, { throwIfNoEntry: false });
    return same?.ino === there.ino && same.dev === there.dev;
  }
  return false;
}

function folded(path: string): string {
  return path.normalize("NFC").toLowerCase();
}
