/** What an installation brings, worked out from the lockfile: nothing is installed for it. @module */
import { readFileSync } from "node:fs";
import { arch, platform } from "node:process";
import { join } from "node:path/posix";
import { parse } from "yaml";

type Group = "dependencies" | "optionalDependencies" | "devDependencies";
type Versions = Readonly<Record<string, string>>;

interface Lockfile {
  readonly importers: Readonly<Record<string, Partial<Record<Group, Readonly<Record<string, { version: string }>>>>>>;
  readonly packages: Readonly<Record<string, { readonly os?: readonly string[]; readonly cpu?: readonly string[] }>>;
  readonly snapshots: Readonly<Record<string, Partial<Record<Exclude<Group, "devDependencies">, Versions>>>>;
}

/** A name and version, as `esbuild@0.28.2`. */
const KEY = /^(@?[^@]+@[^(]+)/;

/** Each package, for this platform, that `pnpm install --prod --filter-prod IMPORTER...` puts into `node_modules`. */
export function installedFor(importer: string, lockfile: string): ReadonlySet<string> {
  const { importers, packages, snapshots } = parse(readFileSync(lockfile, "utf8")) as Lockfile;
  const visited = new Set<string>();
  const found = new Set<string>();
  const visitImporter = (folder: string): void => {
    if (visited.has(folder)) return;
    visited.add(folder);
    const { dependencies = {}, optionalDependencies = {} } = importers[folder] ?? {};
    for (const [name, { version }] of Object.entries({ ...dependencies, ...optionalDependencies })) {
      if (version.startsWith("link:")) visitImporter(join(folder, version.slice("link:".length)));
      else visit(name, version);
    }
  };
  const visit = (name: string, version: string): void => {
    const snapshot = version in snapshots ? version : `${name}@${version}`;
    const [, key = snapshot] = KEY.exec(snapshot) ?? [];
    const { os = [platform], cpu = [arch] } = packages[key] ?? {};
    if (visited.has(snapshot) || !os.includes(platform) || !cpu.includes(arch)) return;
    visited.add(snapshot);
    found.add(key);
    const { dependencies = {}, optionalDependencies = {} } = snapshots[snapshot] ?? {};
    for (const [each, its] of Object.entries({ ...dependencies, ...optionalDependencies })) visit(each, its);
  };
  visitImporter(importer);
  return found;
}
