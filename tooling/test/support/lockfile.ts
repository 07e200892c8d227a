/** What an installation brings, worked out from the lockfile: nothing is installed for it. @module */
import { readFileSync } from "node:fs";
import { join } from "node:path/posix";
import { parse } from "yaml";

type Versions = Readonly<Record<string, string>>;

interface Importer {
  readonly dependencies?: Readonly<Record<string, { readonly version: string }>>;
}

interface Lockfile {
  readonly importers: Readonly<Record<string, Importer>>;
  readonly snapshots: Readonly<Record<string, { readonly dependencies?: Versions }>>;
}

/** A name and version, as `esbuild@0.28.2`. */
const KEY = /^(@?[^@]+@[^(]+)/;

/** Each package that `pnpm install --prod --no-optional --filter-prod IMPORTER...` puts into `node_modules`. */
export function installedFor(importer: string, lockfile: string): ReadonlySet<string> {
  const { importers, snapshots } = parse(readFileSync(lockfile, "utf8")) as Lockfile;
  const visited = new Set<string>();
  const found = new Set<string>();
  const visitImporter = (folder: string): void => {
    if (visited.has(folder)) return;
    visited.add(folder);
    for (const [name, { version }] of Object.entries(importers[folder]?.dependencies ?? {})) {
      if (version.startsWith("link:")) visitImporter(join(folder, version.slice("link:".length)));
      else visit(name, version);
    }
  };
  const visit = (name: string, version: string): void => {
    const snapshot = version in snapshots ? version : `${name}@${version}`;
    const [, key = snapshot] = KEY.exec(snapshot) ?? [];
    if (visited.has(snapshot)) return;
    visited.add(snapshot);
    found.add(key);
    for (const [each, its] of Object.entries(snapshots[snapshot]?.dependencies ?? {})) visit(each, its);
  };
  visitImporter(importer);
  return found;
}
