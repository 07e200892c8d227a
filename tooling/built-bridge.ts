import { execFile } from "node:child_process";
import { globSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const workspace = fileURLToPath(new URL("..", import.meta.url));
const app = `${workspace}apps/reference`;
const SOURCES = ["packages/*/src/**/*.ts", "packages/*/package.json", "apps/reference/{src/**,*.ts,package.json}"];

/** Before tests that run the binary: builds it, unless it is younger than everything it is made from. */
export async function setup(): Promise<void> {
  const built = statSync(`${app}/dist/main.js`, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = globSync([...SOURCES, "tooling/tsup.ts"], { cwd: workspace });
  if (sources.every((file) => statSync(`${workspace}${file}`).mtimeMs < built)) return;
  const tsup = createRequire(import.meta.url).resolve("tsup/dist/cli-default.js");
  await promisify(execFile)(process.execPath, [tsup], { cwd: app });
}
