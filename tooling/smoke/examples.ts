/** The examples that bring their own manifest, run with what was packed instead of the sources. @module */
import { cpSync, existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Project } from "./project.ts";

const MANIFESTS = "examples/*/package.json";
/** What their tests share. */
const SUPPORT = ["listens", "program", "rabbit", "start"].map((name) => join("examples/test/support", `${name}.ts`));
/** What these tests need besides, as somebody who looks at a broker from outside. */
const FOR_TESTS = ["amqplib"] as const;
const CATALOG_ENTRY = /^ {2}"?([^":\s]+(?:\/[^":\s]+)?)"?: (\S+)$/gm;

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** What they need of other people, as `NAME@RANGE`. */
export function examplePackages(): readonly string[] {
  const catalog = new Map(
    readFileSync("pnpm-workspace.yaml", "utf8")
      .matchAll(CATALOG_ENTRY)
      .map(([, name = "", range = ""]) => [name, range]),
  );
  const names = globSync(MANIFESTS).flatMap((path) => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(path, "utf8")) as Manifest;
    return Object.keys({ ...dependencies, ...devDependencies });
  });
  const others = new Set([...names, ...FOR_TESTS].filter((name) => !name.startsWith("@bridge/")));
  return [...others].map((name) => `${name}@${catalog.get(name) ?? "latest"}`);
}

/** Runs the test of each on a copy of its folder, one after another. */
export async function checkExamples(project: Project): Promise<void> {
  const place = (path: string): string => join(project.folder, path);
  for (const file of SUPPORT) cpSync(file, place(file));
  for (const manifest of globSync(MANIFESTS)) {
    const folder = dirname(manifest);
    const name = basename(folder);
    // Its own modules, if it has any here, are the sources.
    cpSync(folder, place(folder), { recursive: true, filter: (path) => basename(path) !== "node_modules" });
    const test = `examples/test/${name}.test.ts`;
    // Without one there, it is a test itself.
    if (existsSync(test)) cpSync(test, place(test));
    await project.run(`example ${name}`, "node_modules/.bin/vitest", "run", "--root", "examples", name);
  }
}
