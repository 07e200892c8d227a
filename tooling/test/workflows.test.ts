import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const WORKSPACE = fileURLToPath(new URL("../..", import.meta.url));
const workflows = globSync(".github/**/*.yml", { cwd: WORKSPACE });
const text = workflows.map((file) => readFileSync(join(WORKSPACE, file), "utf8")).join("\n");
const { scripts } = JSON.parse(readFileSync(join(WORKSPACE, "package.json"), "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};

test("each script that a workflow runs is one of the workspace", () => {
  const direct = Array.from(text.matchAll(/pnpm run ([\w:-]+)/g), ([, name = ""]) => name);
  const [, matrix = ""] = /script:\n((?: +- .*\n)+)/.exec(text) ?? [];
  const ofMatrix = Array.from(matrix.matchAll(/- ([\w:-]+)/g), ([, name = ""]) => name);
  expect(ofMatrix).not.toEqual([]);
  for (const name of [...direct, ...ofMatrix]) expect(Object.keys(scripts)).toContain(name);
});

test("each file of the workspace that a workflow names exists", () => {
  const named = Array.from(
    text.matchAll(/(?:\.\/\.github|\.ci|deploy|tooling|packages)\/[\w./-]+\w/g),
    ([path]) => path,
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((path) => !existsSync(join(WORKSPACE, path)))).toEqual([]);
});
