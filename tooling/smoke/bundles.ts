/**
 * Whether a service with threads runs as people ship it: bundled into one folder, far from what was installed, each thread from
 * a file that the bundler has made of its exported entry. @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Project } from "./project.ts";

/** The files of the bundle, each with what it is made of. The service names those of the threads as `threadUrl`. */
const ENTRIES = {
  service: "./bundled-service.mjs",
  processors: "@bridge/processors/thread",
  yaml: "@bridge/config-file/thread",
} as const;

/** Libraries written for CommonJS ask for the platform's modules with `require`. */
const REQUIRE = 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);';

/** `away`: an empty folder, none above which holds packages. `nodes`: programs by their names. */
export async function checkBundles(project: Project, away: string, nodes: ReadonlyMap<string, string>): Promise<void> {
  project.write("bundled-service.ts", readFileSync("tooling/smoke/bundled-service.ts.txt", "utf8"));
  const [lowered, folders] = [
    ["--platform=node", "--format=esm", "--target=node22.19", "--out-extension:.js=.mjs"],
    { esbuild: join(away, "esbuild"), webpack: join(away, "webpack") },
  ] as const;
  await project.run(
    "a service with threads, lowered",
    "node_modules/.bin/esbuild",
    "bundled-service.ts",
    ...lowered,
    "--outdir=.",
  );
  await project.run(
    "a service with threads, esbuild",
    "node_modules/.bin/esbuild",
    ...Object.entries(ENTRIES).map(([name, module]) => `${name}=${module}`),
    "--bundle",
    ...lowered,
    `--banner:js=${REQUIRE}`,
    `--outdir=${folders.esbuild}`,
  );
  project.write(
    "webpack.service.mjs",
    `export default { mode: "production", target: "node22", entry: ${JSON.stringify(ENTRIES)},
      experiments: { outputModule: true },
      output: { path: ${JSON.stringify(folders.webpack)}, filename: "[name].mjs", module: true } };`,
  );
  await project.run("a service with threads, webpack", "node_modules/.bin/webpack", "--config", "webpack.service.mjs");
  for (const [bundler, folder] of Object.entries(folders)) {
    for (const [name, node] of nodes)
      await project.run(`a service with threads from ${bundler}, ${name}`, node, join(folder, "service.mjs"));
  }
}
