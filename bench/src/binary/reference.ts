import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "@bridge/tooling/listening";

const PROGRAM = fileURLToPath(new URL("../../../apps/reference/dist/main.js", import.meta.url));
const START_TIMEOUT_MS = 20_000;
const POLL_MS = 2;

export const ADMIN_KEY = "a-key-for-measuring";

/** The reference binary as it is built, with a configuration of its own. */
export class Reference implements AsyncDisposable {
  readonly admin: string;
  readonly monitor: string;
  readonly #file: string;
  #process: ChildProcess | undefined;

  private constructor(file: string, admin: number, monitor: number) {
    this.#file = file;
    this.admin = `http://127.0.0.1:${admin}/api/v1/admin`;
    this.monitor = `http://127.0.0.1:${monitor}/api/v1/monitor`;
  }

  /** Writes its configuration into a folder. */
  static async configured(folder: string, document: object): Promise<Reference> {
    if (!existsSync(PROGRAM))
      throw new Error("the reference binary is not built: pnpm --filter @bridge/reference build");
    const [admin, monitor] = [await freePort(), await freePort()];
    const http = {
      admin_addr: `127.0.0.1:${admin}`,
      monitor_addr: `127.0.0.1:${monitor}`,
      admin_api_key: ADMIN_KEY,
    };
    const file = join(folder, "bridge.json");
    await writeFile(file, JSON.stringify({ bridge: { id: "bench", log_level: "warn" }, http, ...document }));
    return new Reference(file, admin, monitor);
  }

  /** Starts it; resolves at level `full`, with the milliseconds since. */
  async start(profileDir?: string): Promise<number> {
    const begin = performance.now();
    const profile = profileDir === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profileDir}`];
    const log = openSync(`${this.#file}.log`, "a");
    const child = spawn(process.execPath, [...profile, PROGRAM, "-config", this.#file], {
      stdio: ["ignore", "ignore", log],
    });
    closeSync(log);
    this.#process = child;
    for (;;) {
      const full = await fetch(`${this.monitor}/ready?level=full`).catch(() => undefined);
      await full?.body?.cancel();
      if (full?.ok === true) return performance.now() - begin;
      if (child.exitCode !== null) throw new Error(`the bridge has ended, with code ${child.exitCode}`);
      if (performance.now() - begin > START_TIMEOUT_MS) throw new Error("the bridge did not get to full");
      await sleep(POLL_MS);
    }
  }

  /** Runs `-validate`; resolves to how many milliseconds it took. */
  validate(): Promise<number> {
    return run([PROGRAM, "-validate", "-config", this.#file]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill("SIGTERM");
    await exit;
  }
}

/** How many milliseconds a process of Node takes that has nothing to do. */
export function bareStart(): Promise<number> {
  return run(["--eval", "0"]);
}

async function run(args: readonly string[]): Promise<number> {
  const begin = performance.now();
  const child = spawn(process.execPath, args, { stdio: "ignore" });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`${args.join(" ")} has ended with code ${code}`);
  return performance.now() - begin;
}
