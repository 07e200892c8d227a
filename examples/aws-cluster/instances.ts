import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { BRIDGE_ID, CONFIG_TABLE } from "./configuration.ts";

const BINARY = fileURLToPath(new URL("../../apps/aws-profile/dist/main.js", import.meta.url));
/** An orchestrator starts a task again that has ended. */
const RESTART_AFTER_MS = 8_000;

export const ADMIN_PARAMETER = "/plant-7/admin-api-key";

export interface Place {
  readonly name: "a" | "b";
  readonly admin: number;
  readonly monitor: number;
  /** Its log goes there. */
  readonly log: string;
}

/** The bootstrap document of an instance. */
function bootstrapFor({ name, admin, monitor }: Place): string {
  return JSON.stringify({
    bridge_id: BRIDGE_ID,
    instance_id: `${BRIDGE_ID}-${name}`,
    config_source: "dynamodb",
    config_table: CONFIG_TABLE,
    poll_interval: "1s",
    admin_api_key_param: ADMIN_PARAMETER,
    admin_addr: `127.0.0.1:${admin}`,
    monitor_addr: `127.0.0.1:${monitor}`,
    metrics: "none",
  });
}

/** What a process of the binary gets to see. */
function environment(place: Place, env: Readonly<Record<string, string>>): Record<string, string> {
  return { ...env, BRIDGE_BOOTSTRAP_JSON: bootstrapFor(place) };
}

/** Runs `bridge-aws -create-tables`; returns what it says. @throws Error when the binary has not been built */
export async function createTables(place: Place, env: Readonly<Record<string, string>>): Promise<string> {
  if (!existsSync(BINARY)) throw new Error("bridge-aws is not built: run this as pnpm run aws-cluster");
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, [BINARY, "-create-tables"], { env: environment(place, env) });
  return stdout;
}

/** One instance of `bridge-aws`, started again some seconds after it has ended. */
export class Instance implements AsyncDisposable {
  readonly place: Place;
  readonly #env: Record<string, string>;
  readonly #onEnd: (how: string) => void;
  #child: ChildProcess;
  #timer: NodeJS.Timeout | undefined;
  #over = false;

  constructor(place: Place, env: Readonly<Record<string, string>>, onEnd: (how: string) => void) {
    this.place = place;
    this.#env = environment(place, env);
    this.#onEnd = onEnd;
    this.#child = this.#start();
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over = true;
    clearTimeout(this.#timer);
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    await ended;
  }

  #start(): ChildProcess {
    const log = createWriteStream(this.place.log, { flags: "a" });
    // In a group of its own, so that Ctrl-C reaches it once, through us, and not twice.
    const child = spawn(process.execPath, [BINARY], {
      env: this.#env,
      stdio: ["ignore", "ignore", "pipe"],
      detached: true,
    });
    child.stderr.pipe(log);
    const orphan = (): boolean => child.kill("SIGKILL");
    process.once("exit", orphan);
    child.once("exit", (code, signal) => {
      process.off("exit", orphan);
      if (this.#over) return;
      this.#onEnd(signal ?? `code ${code}`);
      this.#timer = setTimeout(() => (this.#child = this.#start()), RESTART_AFTER_MS);
    });
    return child;
  }
}
