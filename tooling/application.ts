import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cwd } from "node:process";
import { fileURLToPath } from "node:url";
import { build, type BuildOptions } from "esbuild";
import { noticesFor } from "./notices.ts";

const LAUNCHER = fileURLToPath(new URL("launcher.ts", import.meta.url));
const LICENSE = fileURLToPath(new URL("../LICENSE", import.meta.url));
const OUT = "dist";

/** Beside the program in every package and every image. */
export const NOTICES = "THIRD-PARTY-NOTICES.txt";

// What is bundled and still written for CommonJS asks for the platform's modules with `require`.
const REQUIRE =
  'import { createRequire as createRequireOfBundle } from "node:module"; const require = createRequireOfBundle(import.meta.url);';

const SELF_CONTAINED = {
  banner: { js: REQUIRE },
  bundle: true,
  conditions: ["@bridge/source"],
  format: "esm",
  logLevel: "warning",
  mainFields: ["module", "main"],
  platform: "node",
  sourcemap: true,
  target: "node22.19", // what engines says
} as const satisfies BuildOptions;

/**
 * Builds an application, in the working directory: its commands, and what they look for beside themselves; one self-contained
 * file each, made from the sources of the workspace, so that it builds alone. What is published of it is the folder of the
 * build: a package without dependencies, because everything is in its files.
 */
export async function application(
  commands: Readonly<Record<string, string>>,
  beside: Readonly<Record<string, string>> = {},
): Promise<void> {
  const programs = Object.entries(commands).map(([name, source]) => [`${name}-program`, source]);
  const entryPoints = { ...Object.fromEntries(programs), ...beside } as Record<string, string>;
  const { metafile } = await build({ ...SELF_CONTAINED, entryPoints, outdir: OUT, metafile: true });
  await build({
    entryPoints: Object.fromEntries(Object.keys(commands).map((name) => [name, LAUNCHER])),
    format: "esm",
    logLevel: "warning",
    outdir: OUT,
    platform: "node",
    target: "es2020", // what Node 14.13 parses, so that it can say what is needed
  });
  writeFileSync(join(OUT, NOTICES), noticesFor(metafile, cwd()));
  writeFileSync(join(OUT, "package.json"), `${JSON.stringify(published(), undefined, 2)}\n`);
  for (const file of ["README.md", "CHANGELOG.md"]) copyFileSync(file, join(OUT, file));
  copyFileSync(LICENSE, join(OUT, "LICENSE"));
}

/** Bundles a program that a test starts often: from its sources each start would take a second of CPU. */
export async function bundle(entryPoints: Record<string, string>, outdir: string): Promise<void> {
  await build({ ...SELF_CONTAINED, entryPoints, outdir, sourcemap: false });
}

interface Manifest extends Readonly<Record<string, unknown>> {
  readonly bin: Readonly<Record<string, string>>;
}

/** Of use in the workspace only. */
const OURS = new Set(["scripts", "dependencies", "devDependencies"]);

/** The manifest of the application as users see it. */
function published(): object {
  const { bin, ...rest } = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([key]) => !OURS.has(key))),
    bin: Object.fromEntries(Object.entries(bin).map(([name, file]) => [name, file.replace(`./${OUT}/`, "./")])),
    files: ["*.js", NOTICES, "CHANGELOG.md"],
    publishConfig: { access: "public", provenance: true },
  };
}
