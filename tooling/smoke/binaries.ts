/** The binaries as packages: `npx NAME` in an empty folder, by each Node. @module */
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import type { Project } from "./project.ts";
import type { Tarball } from "./tarballs.ts";

const PATIENCE_MS = 120_000;
const DOCUMENT = `bridge: {id: tried}
http: {admin_addr: "127.0.0.1:0", monitor_addr: "127.0.0.1:0", admin_api_key: an-admin-key-for-a-trial}
`;
/** What one of them reads instead of flags. */
const BOOTSTRAP = JSON.stringify({
  bridge_id: "tried",
  config_source: "file",
  config_file_path: "bridge.yaml",
  admin_addr: "127.0.0.1:0",
  monitor_addr: "127.0.0.1:0",
});
const FLAGS: Readonly<Record<string, readonly string[]>> = { "@bridge/reference": ["-config", "bridge.yaml"] };

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `nodes` and `tooOld`: programs by their names. */
export async function checkBinaries(
  project: Project,
  applications: readonly Tarball[],
  nodes: ReadonlyMap<string, string>,
  tooOld: ReadonlyMap<string, string>,
): Promise<void> {
  project.write("bridge.yaml", DOCUMENT);
  for (const { manifest } of applications) {
    const { name, version, bin = {} } = manifest;
    const [command] = Object.keys(bin);
    for (const [called, node] of nodes) {
      await project.try(`npx ${name} -version, ${called}`, async () => {
        const { code, stdout, stderr } = await npx(project, node, [`${name}@${version}`, "-version"]);
        expect(code === 0 && stdout === `${command} ${version}\n`, `ended with ${code}: ${stdout}${stderr}`);
      });
      await project.try(`npx ${name} runs until it is stopped, ${called}`, async () => {
        const args = [`${name}@${version}`, ...(FLAGS[name] ?? [])];
        const { code, stdout, stderr } = await npx(project, node, args, '"msg":"bridge started"');
        // npx itself ends by the signal, whatever the program said.
        expect(stderr.includes('"msg":"stopped cleanly"'), `ended with ${code}: ${stdout}${stderr}`);
      });
    }
    for (const [called, node] of tooOld)
      await project.try(`npx ${name} says in one line what it needs, ${called}`, async () => {
        const { code, stdout, stderr } = await npx(project, node, [`${name}@${version}`, "-version"]);
        const lines = stderr.split("\n").filter((line) => line !== "" && !line.startsWith("npm warn"));
        const isSaid =
          lines.length === 1 && /: this is Node \d.*, and Node [\d.]+ or newer is needed/.test(lines[0] ?? "");
        expect(code === 1 && stdout === "" && isSaid, `ended with ${code}: ${stdout}${stderr}`);
      });
  }
}

/** To the end, which a signal brings once `until` was logged. */
async function npx(project: Project, node: string, args: readonly string[], until?: string): Promise<Ended> {
  const child = spawn("npx", ["--yes", ...args], {
    cwd: project.folder,
    env: {
      HOME: process.env["HOME"],
      PATH: `${dirname(node)}${delimiter}${process.env["PATH"]}`,
      BRIDGE_BOOTSTRAP_JSON: BOOTSTRAP,
      BRIDGE_ADMIN_API_KEY: "an-admin-key-for-a-trial",
      // Empty each time, as on a machine that has never seen the package.
      npm_config_cache: mkdtempSync(join(project.folder, "cache-")),
    },
    stdio: ["ignore", "pipe", "pipe"],
    // In a group of its own, so that a signal reaches it as Ctrl-C does.
    detached: true,
    timeout: PATIENCE_MS,
  });
  const said = { stdout: "", stderr: "" };
  let isAsked = false;
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said.stderr += text;
    if (isAsked || until === undefined || !said.stderr.includes(until)) return;
    isAsked = true;
    process.kill(-(child.pid ?? 0), "SIGTERM");
  });
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) => done({ code, ...said }));
  });
}

function expect(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}
