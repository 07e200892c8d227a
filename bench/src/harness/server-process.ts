import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env as environment } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Usage } from "./answer.ts";
import { listening } from "@bridge/tooling/listening";
import { tree, treeUsage } from "./process-tree.ts";

const SHOWN_OUTPUT = 2_000;
const LAST_MS = 500;

export interface ServerOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** Beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where it listens when it is ready. */
  readonly port: number;
  readonly startTimeoutMs: number;
}

/** A server of somebody else's, with a folder of its own. Ended, it is killed: nothing of it is wanted any more. */
export class ServerProcess implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #options: ServerOptions;
  readonly #folder: string;
  readonly #left: Promise<never>;
  readonly #exit: Promise<unknown>;
  #output = "";
  #said: (() => void) | undefined;

  private constructor(options: ServerOptions, folder: string) {
    const { command, args, env } = options;
    this.#options = options;
    this.#folder = folder;
    this.#process = spawn(command, args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...environment, ...env },
      // A group of its own, which can be ended as a whole.
      detached: true,
    });
    endWithUs(this.#process);
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-SHOWN_OUTPUT);
        this.#said?.();
      });
    }
    const { promise, reject } = Promise.withResolvers<never>();
    this.#left = promise;
    promise.catch(() => {});
    this.#exit = once(this.#process, "exit").catch(() => {});
    this.#process.on("error", (error) => reject(new Error(`${command} cannot be started: ${error.message}`)));
    this.#process.on("exit", (code) => reject(new Error(`${command} has ended, with code ${code}: ${this.#output}`)));
  }

  /**
   * Starts a server; `options` are made for the folder that is its own. Resolves when it listens.
   *
   * @throws Error when it is not there, ends, or does not listen in time
   */
  static async start(options: (folder: string) => Promise<ServerOptions>): Promise<ServerProcess> {
    const folder = await mkdtemp(join(tmpdir(), "bench-"));
    const server = new ServerProcess(await options(folder), folder);
    try {
      const { port, startTimeoutMs } = server.#options;
      await Promise.race([server.#left, listening(port, startTimeoutMs)]);
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  get port(): number {
    return this.#options.port;
  }

  /** Of all its processes. @throws Error when it has ended */
  usage(): Promise<Usage> {
    return Promise.race([this.#left, treeUsage(this.#process.pid ?? 0)]);
  }

  /** Resolves when it has printed what `pattern` finds. @throws Error when it has not in time */
  async said(pattern: RegExp, withinMs: number): Promise<void> {
    const found = new Promise<void>((resolve) => {
      this.#said = () => {
        if (pattern.test(this.#output)) resolve();
      };
      this.#said();
    });
    const { promise: late, reject } = Promise.withResolvers<never>();
    const complain = (): void => reject(new Error(`${this.#options.command} has said only ${this.#output}`));
    const timer = setTimeout(complain, withinMs);
    await Promise.race([found, late, this.#left]).finally(() => clearTimeout(timer));
    this.#said = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { pid, exitCode, signalCode } = this.#process;
    if (pid !== undefined && exitCode === null && signalCode === null) {
      // What it has started would outlive it. When it waits for that, it ends by itself.
      const below = (await tree(pid)).filter((each) => each !== pid);
      for (const each of below) kill(each);
      if (below.length > 0) await Promise.race([this.#exit, sleep(LAST_MS)]);
      kill(pid);
      await this.#exit;
    }
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

let isWatching = false;
const running = new Set<number>();

/** However this process ends, short of SIGKILL, the server does not outlive it. */
function endWithUs(server: ChildProcess): void {
  const { pid } = server;
  if (pid === undefined) return;
  running.add(pid);
  server.on("exit", () => running.delete(pid));
  if (isWatching) return;
  isWatching = true;
  process.on("exit", () => running.forEach((each) => kill(-each)));
  process.once("SIGINT", () => process.exit(130));
  process.once("SIGTERM", () => process.exit(143));
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}
