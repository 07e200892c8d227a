/**
 * `npm start`: installs what the quickstart needs and no more, and runs it from the sources. Node 14.18 and everything newer
 * can run this file; for the rest, the Node of the repository comes the way that pnpm does, by npx, when yours is too old.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** The oldest major version that runs the sources. */
const LEAST = 24;
const WORKSPACE = fileURLToPath(new URL("..", import.meta.url));

const { packageManager, optionalDependencies } = JSON.parse(readFileSync(`${WORKSPACE}package.json`, "utf8"));

/** @type {(packages: readonly string[], ...command: string[]) => string[]} */
const npx = (packages, ...command) => [
  "--yes",
  "--prefer-offline",
  ...packages.map((name) => `--package=${name}`),
  "--",
  ...command,
];

/** Whoever has installed everything keeps it. */
const isWhole = existsSync(`${WORKSPACE}node_modules/vitest`);
const only = isWhole ? [] : ["--prod", "--no-optional", "--filter-prod", "@bridge/examples..."];

run("npx", npx([packageManager], "pnpm", "install", "--frozen-lockfile", "--prefer-offline", "--silent", ...only));
const node = findNode();

const quickstart = spawn(node, ["examples/quickstart/start.ts", ...process.argv.slice(2)], {
  cwd: WORKSPACE,
  stdio: "inherit",
});
// Ctrl-C and a closed terminal reach both; what is sent to this process alone is passed on.
process.on("SIGINT", () => {});
process.on("SIGHUP", () => {});
process.on("SIGTERM", () => quickstart.kill("SIGTERM"));
quickstart.once("exit", (code, signal) => process.exit(signal === null ? code : 1));

/** @type {(command: string, args: readonly string[]) => void} */
function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: WORKSPACE, stdio: "inherit", shell: isScript(command) });
  if (error !== undefined) process.stderr.write(`cannot run ${command}: ${error.message}\n`);
  if (status !== 0) process.exit(status === null ? 1 : status);
}

function findNode() {
  if (Number.parseInt(process.versions.node, 10) >= LEAST) return process.execPath;
  const [name] = Object.keys(optionalDependencies).filter((each) =>
    each.endsWith(`-${process.platform}-${process.arch}`),
  );
  if (name === undefined) {
    process.stderr.write(`this is Node ${process.versions.node}, and Node ${LEAST} or newer is needed: install one\n`);
    process.exit(1);
  }
  const args = npx([`${name}@${optionalDependencies[name]}`], "node", "-p", "process.execPath");
  const { status, stdout } = spawnSync("npx", args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  if (status !== 0) process.exit(1);
  return stdout.trim();
}

/** On Windows, npx is one, which only a shell runs. */
function isScript(command) {
  return process.platform === "win32" && command === "npx";
}
