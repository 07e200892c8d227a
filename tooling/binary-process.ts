/** Runs a built binary as its operators do: from its command line to its exit code. @module */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** What runs it. Default: the Node of the tests. */
  readonly node?: string | undefined;
  /** The user that it runs as. Default: that of the tests. */
  readonly uid?: number | undefined;
  /** In octal digits. Default: that of the tests. */
  readonly umask?: string | undefined;
}

type LogLine = Readonly<Record<string, unknown>> & { readonly level: string; readonly msg: string };

/** Written again it would lack one of the two. What is no JSON has no keys. */
function hasKeyTwice(line: string): boolean {
  return line.startsWith('{"level":') && JSON.stringify(JSON.parse(line)).length !== line.length;
}

const PATIENCE_MS = 60_000;
const SIGHUP = 1n;
const COMPILE_CACHE = join(tmpdir(), "bridge-compile-cache");

/** A process of a binary; disposing it leaves none behind. */
export class BinaryProcess implements AsyncDisposable {
  stdout = "";
  stderr = "";
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  readonly #child: ChildProcess;
  readonly #waiting = new Set<() => void>();
  #over = false;

  constructor(
    file: string,
    args: readonly string[],
    { cwd, env = {}, node = process.execPath, uid, umask }: RunOptions,
  ) {
    const command = [node, file, ...args];
    const [program = node, ...rest] =
      umask === undefined ? command : ["/bin/sh", "-c", `umask ${umask} && exec "$0" "$@"`, ...command];
    const child = spawn(program, rest, {
      cwd,
      // What was compiled for one process serves the next, which costs each a third less to start.
      env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      ...(uid !== undefined && { uid, gid: uid }),
    });
    this.#child = child;
    child.stdout.setEncoding("utf8").on("data", (text: string) => this.#read(() => (this.stdout += text)));
    child.stderr.setEncoding("utf8").on("data", (text: string) => this.#read(() => (this.stderr += text)));
    this.ended = once(child, "close").then(([code, signal]) => {
      this.#read(() => (this.#over = true));
      return (code ?? signal) as number | NodeJS.Signals;
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Resolves once it takes signals: Node itself takes SIGTERM and SIGINT from the first, SIGHUP only the launcher does, after them. */
  async takesSignals(): Promise<void> {
    for (;;) {
      const status = readFileSync(`/proc/${this.pid}/status`, "utf8");
      const [, caught = "0"] = /^SigCgt:\t([0-9a-f]+)$/m.exec(status) ?? [];
      if ((BigInt(`0x${caught}`) & SIGHUP) !== 0n) return;
      await delay(1);
    }
  }

  /** The lines of the log so far. */
  get log(): readonly LogLine[] {
    return this.stderr
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as LogLine);
  }

  /** The first line of the log with this sentence. Rejects when the process ends without it. */
  async logged(msg: string): Promise<LogLine> {
    const deadline = AbortSignal.timeout(PATIENCE_MS);
    for (;;) {
      const line = this.log.find((each) => each.msg === msg);
      if (line !== undefined) return line;
      if (this.#over || deadline.aborted) throw new Error(`"${msg}" was not logged:\n${this.stderr}`);
      await this.#news(deadline);
    }
  }

  /** Where a server listens, as the log says. */
  async url(server: "admin" | "monitor"): Promise<string> {
    return String((await this.logged(`${server} server listens`))["url"]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
    const repeated = this.stderr.split("\n").slice(0, -1).find(hasKeyTwice);
    if (repeated !== undefined) throw new Error(`a line of the log has a key twice: ${repeated}`);
  }

  #read(take: () => void): void {
    take();
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  #news(deadline: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add(resolve);
      deadline.addEventListener("abort", () => resolve(), { once: true });
    });
  }
}
