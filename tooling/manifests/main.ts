/**
 * Holds every package that is published against what a package has to say of itself: manifest, changelog, links of the README,
 * one version for all. Run by `pnpm check`; with `--write` it repairs what it can. @module
 */
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { argv, exit } from "node:process";
import { isDeepStrictEqual } from "node:util";
import { deadLinks, withAbsoluteLinks } from "./links.ts";
import { type Manifest, published } from "./published.ts";

const isWriting = argv.includes("--write");
const problems: string[] = [];

/** Where the packages come from is said in one place, the manifest of the workspace. */
const { homepage: repository } = read("package.json") as { readonly homepage?: string };
if (repository === undefined) throw new Error("package.json names no homepage, which is where the repository is");

const packages = globSync("{packages,apps}/*/package.json")
  .toSorted()
  .map((path) => ({ folder: dirname(path).replaceAll("\\", "/"), manifest: read(path) }))
  .filter(({ manifest }) => manifest.private !== true);
if (packages.length === 0) problems.push("no package is published: is this the top of the repository?");

for (const { folder, manifest } of packages) {
  const wanted = published(manifest, folder, repository);
  for (const [key, value] of Object.entries(wanted))
    if (!isDeepStrictEqual(manifest[key], value))
      problems.push(`${folder}/package.json: ${key} is not as it has to be`);
  if (isWriting) write(join(folder, "package.json"), `${JSON.stringify({ ...manifest, ...wanted }, undefined, 2)}\n`);

  const changelog = join(folder, "CHANGELOG.md");
  if (!existsSync(changelog)) {
    problems.push(`${changelog} is missing`);
    if (isWriting) write(changelog, `# ${manifest.name}\n\n## ${manifest.version}\n\nThe first release.\n`);
  } else if (!readFileSync(changelog, "utf8").includes(`\n## ${manifest.version}\n`))
    problems.push(`${changelog} does not tell of ${manifest.version}`);

  const readme = join(folder, "README.md");
  const text = existsSync(readme) ? readFileSync(readme, "utf8") : "";
  const absolute = withAbsoluteLinks(text, folder, repository);
  if (text === "") problems.push(`${readme} is missing`);
  if (absolute !== text) problems.push(`${readme} has links that lead out of the package and are not absolute`);
  if (isWriting && absolute !== text) write(readme, absolute);
  for (const link of deadLinks(absolute, folder, repository)) problems.push(`${readme}: ${link} leads nowhere`);
}

const versions = new Set(packages.map(({ manifest }) => manifest.version));
if (versions.size > 1) problems.push(`all packages have one version, and not ${[...versions].join(", ")}`);

if (isWriting) console.log(`${packages.length} packages written; now: pnpm run fix, and this again without --write`);
else {
  for (const problem of problems) console.error(problem);
  if (problems.length > 0)
    console.error("node tooling/manifests/main.ts --write repairs manifests, changelogs and links");
  exit(problems.length === 0 ? 0 : 1);
}

function read(path: string): Manifest {
  return JSON.parse(readFileSync(path, "utf8")) as Manifest;
}

function write(path: string, text: string): void {
  if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeFileSync(path, text);
}
