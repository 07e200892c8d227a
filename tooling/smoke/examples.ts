/** The examples that bring their own manifest, run with what was packed instead of the sources. @module */
import { cpSync, existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Project } from "./project.ts";

const MANIFESTS = "examples/*/package.json";
/** What their tests share. */
const SUPPORT = ["listens", "program", "rabbit", "start"].map((name) => join("examples/test/support", `${name}.ts`));
/** What these tests need besides, as somebody who looks from outside. */
const FOR_TESTS = ["amqplib", "pg"] as const;
const CATALOG_ENTRY = /^ {2}"?([^":\s]+(?:\/[^":\s]+)?)"?: (\S+)$/gm;

/** The same, as `NAME@RANGE`. */
export function examplePackages(): readonly string[] {
  const catalog = new Map(
    readFileSync("pnpm-workspace.yaml", "utf8")
      .matchAll(CATALOG_ENTRY)
      .map(([, name = "", range = ""]) => [name, range]),
  );
  return FOR_TESTS.map((name) => `${name}@${catalog.get(name) ?? "latest"}`);
}

/** Installs a copy of each by its own manifest, and runs its test on it, one after another. */
export async function checkExamples(project: Project): Promise<void> {
  const place = (path: string): string => join(project.folder, path);
  for (const file of SUPPORT) cpSync(file, place(file));
  for (const manifest of globSync(MANIFESTS)) {
    const folder = dirname(manifest);
    const name = basename(folder);
    // Its own modules, if it has any here, are the sources.
    cpSync(folder, place(folder), { recursive: true, filter: (path) => basename(path) !== "node_modules" });
    cpSync(place(".npmrc"), place(join(folder, ".npmrc")));
    await project.run(`npm install of ${name}`, "npm", "install", "--silent", "--prefix", place(folder));
    const test = `examples/test/${name}.test.ts`;
    // Without one there, it is a test itself.
    if (existsSync(test)) cpSync(test, place(test));
    await project.run(`example ${name}`, "node_modules/.bin/vitest", "run", "--root", "examples", name);
  }
}
