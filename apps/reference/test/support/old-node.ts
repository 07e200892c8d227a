import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { delimiter, join } from "node:path";
import { arch, env, platform } from "node:process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A Node that is too old for the bridge: one of this machine, else one that npm brings into `folder`. */
export async function oldNode(folder: string): Promise<string> {
  for (const place of (env["PATH"] ?? "").split(delimiter)) {
    const [found] = place === "" ? [] : globSync(join(place, "node"));
    if (found !== undefined && (await majorOf(found)) < 24) return found;
  }
  const name = `node-${platform}-${arch}`;
  await run("npm", ["install", "--no-audit", "--no-fund", "--prefix", folder, `${name}@20.20.2`]);
  return join(folder, "node_modules", name, "bin", "node");
}

async function majorOf(node: string): Promise<number> {
  const { stdout } = await run(node, ["-p", "process.versions.node"]);
  return Number.parseInt(stdout, 10);
}
