import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { namesFor, USUAL_NAMES } from "./names.ts";
import { type Ports, USUAL_PORTS } from "./ports.ts";

const PROGRAM = fileURLToPath(new URL("../../apps/reference/src/main.ts", import.meta.url));
const DOCUMENT = fileURLToPath(new URL("../quickstart.yaml", import.meta.url));

/** The reference binary, running as a process of its own, from its sources. */
export interface BridgeProcess {
  /** Resolves to the exit code; to `null` when a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Asks it to end; asked a second time, it ends at once. */
  stop(): void;
}

export async function startBridge(ports: Ports): Promise<BridgeProcess> {
  const { file, remove } = await documentFor(ports);
  const child = spawn(
    process.execPath,
    ["--conditions=@bridge/source", PROGRAM, "-config", file, "-start-empty=false"],
    {
      stdio: ["ignore", "ignore", "inherit"],
      // In a group of its own, so that Ctrl-C reaches it once, through us, and not twice.
      detached: true,
    },
  );
  const orphan = (): boolean => child.kill("SIGKILL");
  process.once("exit", orphan);
  const ended = once(child, "exit").then(async ([code]) => {
    process.off("exit", orphan);
    await remove();
    return code as number | null;
  });
  return { ended, stop: () => void child.kill("SIGTERM") };
}

/** The document of the quickstart; a copy of it when other ports were chosen. */
async function documentFor(ports: Ports): Promise<{ file: string; remove: () => Promise<void> }> {
  const names = Object.keys(USUAL_PORTS) as (keyof Ports)[];
  if (names.every((name) => ports[name] === USUAL_PORTS[name])) return { file: DOCUMENT, remove: async () => {} };
  const usual = new Map(names.map((name) => [`127.0.0.1:${USUAL_PORTS[name]}`, `127.0.0.1:${ports[name]}`]));
  const { root, clientId } = namesFor(ports);
  const text = (await readFile(DOCUMENT, "utf8"))
    .replaceAll(/127\.0\.0\.1:\d+/g, (place) => usual.get(place) ?? place)
    .replaceAll(`"${USUAL_NAMES.root}/`, `"${root}/`)
    .replace(`client_id: ${USUAL_NAMES.clientId}`, `client_id: ${clientId}`);
  const folder = await mkdtemp(join(tmpdir(), "bridge-quickstart-"));
  const file = join(folder, "quickstart.yaml");
  await writeFile(file, text);
  return { file, remove: () => rm(folder, { recursive: true, force: true }) };
}
