import { execFile } from "node:child_process";
import { globSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

const workspace = fileURLToPath(new URL("..", import.meta.url));

/**
 * Before tests that run a binary: builds it, unless it is younger than everything it is made from. It is the one of the
 * app that the tests are in, the one that they deploy, else the reference binary.
 */
export async function setup({ config }: TestProject): Promise<void> {
  const deployed = /[\\/]deploy[\\/]aws$/.test(config.root) ? "aws-profile" : "reference";
  const name = /[\\/]apps[\\/]([\w-]+)$/.exec(config.root)?.[1] ?? deployed;
  const app = `${workspace}apps/${name}`;
  const built = statSync(`${app}/dist/main.js`, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = globSync(
    ["packages/*/src/**/*.ts", "packages/*/package.json", `apps/${name}/{src/**,*.ts,package.json}`, "tooling/tsup.ts"],
    { cwd: workspace },
  );
  if (sources.every((file) => statSync(`${workspace}${file}`).mtimeMs < built)) return;
  const tsup = createRequire(import.meta.url).resolve("tsup/dist/cli-default.js");
  await promisify(execFile)(process.execPath, [tsup], { cwd: app });
}
