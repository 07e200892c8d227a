/**
 * Packs what would be published, installs it into an empty folder as a user does, and tries it: types under strict
 * compilers, the examples of the READMEs, bundlers, the examples with a manifest, and the binaries by npx, on
 * every Node that is supported. `pnpm smoke`. @module
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { checkBinaries } from "./binaries.ts";
import { checkBundles } from "./bundles.ts";
import { checkExamples, examplePackages } from "./examples.ts";
import { localRegistry } from "./local-registry.ts";
import { Project } from "./project.ts";
import { BUNDLER_PACKAGES, checkRuns } from "./runs.ts";
import { checkSizes } from "./sizes.ts";
import { pack, type Tarball } from "./tarballs.ts";
import { checkTypes, COMPILER_PACKAGES } from "./types.ts";

/** The oldest that packages say, and the newest of each line that is maintained. */
const NODES = ["22.19.0", "24", "26"] as const;
/** It parses the launcher, and nothing else of ours. */
const TOO_OLD = "20";
const PLATFORM = `${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;

const folder = mkdtempSync(join(tmpdir(), "bridge-smoke-"));
try {
  const tarballs = pack(join(folder, "tarballs"));
  await using registry = await localRegistry(tarballs);
  const project = new Project(join(folder, "project"), registry.url);
  const peers = new Set(tarballs.flatMap(({ manifest }) => Object.keys(manifest.peerDependencies ?? {})));
  await project.install(
    ...tarballs.filter(isLibrary).map(({ manifest }) => `${manifest.name}@${manifest.version}`),
    ...[...peers].filter((name) => !name.startsWith("@bridge/")),
    ...COMPILER_PACKAGES,
    ...BUNDLER_PACKAGES,
    ...examplePackages(),
  );
  await checkSizes(
    project,
    tarballs.filter(isLibrary).map(({ manifest }) => manifest.name),
  );
  await checkTypes(project, tarballs, readFileSync("tooling/snippets/surroundings.ts.txt", "utf8"));
  const newer = nodes(NODES);
  await checkRuns(project, tarballs, newer);
  await checkExamples(project);
  await checkBundles(project, join(folder, "away"), newer);
  const place = new Project(join(folder, "npx"), registry.url);
  const applications = tarballs.filter((tarball) => !isLibrary(tarball));
  await checkBinaries(place, applications, newer, nodes([TOO_OLD]));
  const tried = [...project.tried, ...place.tried];
  for (const { what, error } of tried) {
    console.log(`${error === undefined ? "ok    " : "FAILED"} ${what}`);
    if (error !== undefined) console.error(error.split("\n").slice(0, 60).join("\n"));
  }
  const failed = tried.filter(({ error }) => error !== undefined).length;
  console.log(`${tarballs.length} packages: ${tried.length - failed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** An application is taken by npx, and needs nothing that was installed. */
function isLibrary({ manifest }: Tarball): boolean {
  return manifest.exports !== undefined;
}

function nodes(versions: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    versions.map((version) => {
      const place = join(folder, `node-${version}`);
      mkdirSync(place);
      const name = `node-${PLATFORM}`;
      execFileSync("npm", ["install", "--silent", "--prefix", place, "--prefer-offline", `${name}@${version}`]);
      return [`Node ${version}`, join(place, "node_modules", name, "bin", "node")];
    }),
  );
}
