import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ADMIN_KEY } from "../binary/reference.ts";
import { freePort } from "@bridge/tooling/listening";
import type { Asked, LongestTurn } from "./turn-watch.ts";

const PROGRAM = fileURLToPath(new URL("../../../apps/reference/src/main.ts", import.meta.url));
const WATCH = new URL("turn-watch.ts", import.meta.url).href;
const START_TIMEOUT_MS = 120_000;
const POLL_MS = 100;

/** What an endpoint has answered. */
export interface Answered {
  readonly status: number;
  readonly text: string;
}

/** The reference binary from its sources, whose event loop is watched. */
export class WatchedBridge implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #urls: Readonly<Record<"admin" | "monitor", string>>;

  private constructor(process: ChildProcess, admin: number, monitor: number) {
    this.#process = process;
    this.#urls = {
      admin: `http://127.0.0.1:${admin}/api/v1/admin`,
      monitor: `http://127.0.0.1:${monitor}/api/v1/monitor`,
    };
  }

  /** Resolves at level `full`. */
  static async start(folder: string, document: object): Promise<WatchedBridge> {
    const [admin, monitor] = [await freePort(), await freePort()];
    const http = {
      admin_addr: `127.0.0.1:${admin}`,
      monitor_addr: `127.0.0.1:${monitor}`,
      admin_api_key: ADMIN_KEY,
    };
    const file = join(folder, "bridge.yaml");
    await writeFile(file, JSON.stringify({ bridge: { id: "bench", log_level: "warn" }, http, ...document }, null, 1));
    const log = openSync(`${file}.log`, "a");
    const child = spawn(
      process.execPath,
      ["--conditions=@bridge/source", "--import", WATCH, PROGRAM, "-config", file],
      { stdio: ["ignore", "ignore", log, "ipc"] },
    );
    closeSync(log);
    const bridge = new WatchedBridge(child, admin, monitor);
    for (const end = performance.now() + START_TIMEOUT_MS; performance.now() < end; await sleep(POLL_MS)) {
      const ready = await bridge.ask("monitor", "/ready?level=full").catch(() => undefined);
      if (ready?.status === 200) return bridge;
      if (child.exitCode !== null) throw new Error(`the bridge has ended, with code ${child.exitCode}`);
    }
    await bridge[Symbol.asyncDispose]();
    throw new Error("the bridge did not get to full");
  }

  async ask(server: "admin" | "monitor", path: string, method = "GET", body?: object): Promise<Answered> {
    const response = await fetch(`${this.#urls[server]}${path}`, {
      method,
      headers: { "X-API-Key": ADMIN_KEY },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  }

  /** The longest turn of the bridge's event loop while `work` goes on. */
  async longestTurn(work: () => Promise<unknown>): Promise<LongestTurn> {
    await this.#send("begin");
    await work();
    return this.#send("end");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#process;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill("SIGTERM");
    await exit;
  }

  async #send(asked: Asked): Promise<LongestTurn> {
    const told = once(this.#process, "message");
    this.#process.send(asked);
    const [longest] = (await told) as [LongestTurn];
    return longest;
  }
}
