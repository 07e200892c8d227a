import { lstatSync, readlinkSync } from "node:fs";
import { dirname, isAbsolute, join, parse, relative, sep } from "node:path";

/** As many as the system follows. */
const MAX_LINKS = 40;

/**
 * Where a change of what `path` leads to shows: in which folders, under which names. That is the file itself, each link
 * on the way to it, or the first thing that is missing on it.
 */
export function placesOf(path: string): ReadonlyMap<string, ReadonlySet<string>> {
  const places = new Map<string, Set<string>>();
  const { root } = parse(path);
  let folder = root;
  let links = 0;
  const rest = relative(root, path).split(sep);
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    if (name === "" || name === ".") continue;
    if (name === "..") {
      folder = dirname(folder);
      continue;
    }
    const here = join(folder, name);
    const link = linkOf(here);
    if (typeof link === "string" || link === false || rest.length === 0) {
      const names = places.get(folder) ?? new Set();
      places.set(folder, names.add(name));
    }
    if (link === undefined) folder = here;
    else if (link === false || ++links > MAX_LINKS) break;
    else {
      rest.unshift(...link.split(sep));
      if (isAbsolute(link)) folder = parse(link).root;
    }
  }
  return places;
}

/** Where a link leads; `undefined` when it is none, `false` when nothing is there. */
function linkOf(path: string): string | false | undefined {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return false;
    return stat.isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return false; // a folder on the way is none, or is closed to us
  }
}
