/** Whether what was installed runs: as it is, and in one file that a bundler has made. @module */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { Project } from "./project.ts";
import type { Tarball } from "./tarballs.ts";
import { entriesOf } from "./types.ts";

export const BUNDLER_PACKAGES = ["esbuild", "webpack", "webpack-cli"] as const;

/** They run only inside something else: a thread, or a test. */
const NOT_ALONE = /^@bridge\/conformance|-thread$|\/thread$/;
const ENGINE = "@bridge/core";
/** Their READMEs begin with a whole program that ends by itself. */
const PROGRAMS = ["@bridge/http-kit", "@bridge/telemetry"] as const;
/** Whole programs of the manual, each of which ends by itself. */
const PRINTED = ["mounted-servers", "own-authentication", "hooks"].map((name) => `examples/embedding/${name}.ts`);
/** Whole files of tests in the README of the suites; the other examples there leave something to their reader. */
const SUITES = { package: "@bridge/conformance", calls: /^describe(?:Transport|DlqStore)\(/m } as const;

function examplesOf(tarballs: readonly Tarball[], name: string): readonly string[] {
  return tarballs.find(({ manifest }) => manifest.name === name)?.examples ?? [];
}

/** What happens in a seed depends on nothing but the seed. */
const DIGESTS = `import { runSeed } from "@bridge/simulation";
for (let seed = 1; seed <= 30; seed++) console.log(seed, (await runSeed(seed)).digest);
`;

/** `nodes`: programs by their names. */
export async function checkRuns(
  project: Project,
  tarballs: readonly Tarball[],
  nodes: ReadonlyMap<string, string>,
): Promise<void> {
  const entries = tarballs.flatMap(({ manifest }) => entriesOf(manifest)).filter((entry) => !NOT_ALONE.test(entry));
  project.write("imports.mjs", entries.map((entry) => `await import(${JSON.stringify(entry)});\n`).join(""));
  project.write("engine.ts", examplesOf(tarballs, ENGINE)[0] ?? "");
  const esbuild = ["--platform=node", "--format=esm", "--target=node22.19"];
  await project.run("esbuild", "node_modules/.bin/esbuild", "engine.ts", ...esbuild, "--outfile=engine.mjs");
  await project.run(
    "esbuild, bundled",
    "node_modules/.bin/esbuild",
    "engine.ts",
    "--bundle",
    ...esbuild,
    "--outfile=one.mjs",
  );
  project.write(
    "webpack.config.mjs",
    `export default { mode: "production", target: "node22", entry: "./engine.mjs", experiments: { outputModule: true },
      output: { path: import.meta.dirname, filename: "packed.mjs", module: true } };`,
  );
  await project.run("webpack", "node_modules/.bin/webpack", "--config", "webpack.config.mjs");
  project.write("digests.mjs", DIGESTS);
  for (const name of PROGRAMS) {
    const file = `${name.replace("@bridge/", "")}.program`;
    project.write(`${file}.ts`, examplesOf(tarballs, name)[0] ?? "");
    const lower = ["node_modules/.bin/esbuild", `${file}.ts`, ...esbuild, `--outfile=${file}.mjs`] as const;
    await project.run(`README of ${name}, lowered`, ...lower);
    for (const [version, node] of nodes)
      await project.run(`README of ${name} as printed, ${version}`, node, `${file}.mjs`);
  }
  for (const path of PRINTED) {
    const file = `printed-${basename(path)}`;
    project.write(file, readFileSync(path, "utf8"));
    for (const [version, node] of nodes) await project.run(`${path} as printed, ${version}`, node, file);
  }
  const suites = examplesOf(tarballs, SUITES.package).filter((code) => SUITES.calls.test(code));
  suites.forEach((code, at) => project.write(`suite-${at}.test.ts`, code));
  await project.run(
    `README of ${SUITES.package} as printed`,
    "node_modules/.bin/vitest",
    "run",
    "--root",
    ".",
    "suite-",
  );
  const digests = new Set<string>();
  for (const [name, node] of nodes) {
    await project.try(`seeds have the same digests, ${name}`, async () => {
      digests.add(await project.output(node, "digests.mjs"));
      if (digests.size > 1) throw new Error([...digests].join("\n"));
    });
    await project.run(`imports of every entry, ${name}`, node, "imports.mjs");
    for (const file of ["engine.mjs", "one.mjs", "packed.mjs"])
      await project.run(`a message through ${file}, ${name}`, node, file);
  }
}
