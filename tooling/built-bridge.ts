import { execFile } from "node:child_process";
import { globSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

const workspace = fileURLToPath(new URL("..", import.meta.url));

/**
 * Before tests that run binaries: builds those that are not younger than everything they are made from. They are that of
 * the app that the tests are in, those that the examples and the long tests run or the deployment ships, else the reference
 * binary.
 */
export async function setup({ config }: TestProject): Promise<void> {
  for (const name of appsOf(config.root)) await build(name);
}

function appsOf(root: string): readonly string[] {
  const [, app] = /[\\/]apps[\\/]([\w-]+)$/.exec(root) ?? [];
  if (app !== undefined) return [app];
  if (/[\\/]deploy[\\/]aws$/.test(root)) return ["aws-profile"];
  const several = /[\\/]examples$/.test(root) || `${root}/` === workspace;
  return several ? ["reference", "aws-profile"] : ["reference"];
}

async function build(name: string): Promise<void> {
  const app = `${workspace}apps/${name}`;
  const built = statSync(`${app}/dist/main-program.js`, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = globSync(
    [
      "packages/*/src/**/*.ts",
      "packages/*/package.json",
      `apps/${name}/{src/**,*.ts,package.json}`,
      "tooling/{application,launcher,notices}.ts",
    ],
    { cwd: workspace },
  );
  if (sources.every((file) => statSync(`${workspace}${file}`).mtimeMs < built)) return;
  await promisify(execFile)(process.execPath, ["build.ts"], { cwd: app });
}
