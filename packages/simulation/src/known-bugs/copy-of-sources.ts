import { cp, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/** A writable copy of the sources of a package and of its dependencies. Its disposal removes the folder. */
export interface CopyOfSources extends AsyncDisposable {
  readonly folder: string;
}

/** `name`: the folder of the package. Published dependencies are shared with the repository. */
export async function copyOfSources(name: string): Promise<CopyOfSources> {
  const folder = await mkdtemp(join(tmpdir(), "bridge-known-bugs-"));
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  for (const each of await neededBy(name)) {
    for (const part of ["package.json", "src", "node_modules"]) {
      const path = join("packages", each, part);
      // Links between packages stay as they are, and so lead to the copies.
      await cp(join(ROOT, path), join(folder, path), { recursive: true, verbatimSymlinks: true });
    }
  }
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

async function neededBy(name: string, found = new Set<string>()): Promise<ReadonlySet<string>> {
  found.add(name);
  const manifest = await readFile(join(ROOT, "packages", name, "package.json"), "utf8");
  const { dependencies = {} } = JSON.parse(manifest) as { readonly dependencies?: Readonly<Record<string, string>> };
  for (const [dependency, version] of Object.entries(dependencies)) {
    const needed = dependency.replace("@bridge/", "");
    if (version.startsWith("workspace:") && !found.has(needed)) await neededBy(needed, found);
  }
  return found;
}
