import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** Ends with a slash. */
export const EXAMPLES = fileURLToPath(new URL("../../", import.meta.url));

const PATIENCE_MS = 45_000;

/** A program with what it has printed; disposing it leaves none behind. */
export class Program implements AsyncDisposable {
  stdout = "";
  stderr = "";
  readonly ended: Promise<number | NodeJS.Signals>;
  readonly #child: ChildProcess;
  #over = false;

  /** `env` is all that the program sees of an environment; by default it is that of this process. */
  constructor(file: string, args: readonly string[], env?: Readonly<Record<string, string>>) {
    const child = spawn(process.execPath, [file, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      ...(env !== undefined && { env }),
    });
    this.#child = child;
    child.stdout.setEncoding("utf8").on("data", (text: string) => (this.stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    this.ended = once(child, "close").then(([code, signal]) => {
      this.#over = true;
      return (code ?? signal) as number | NodeJS.Signals;
    });
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** What `pattern` finds in the output, once it finds something. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (const deadline = performance.now() + PATIENCE_MS; ; await delay(20)) {
      const found = pattern.exec(this.stdout);
      if (found !== null) return found;
      if (this.#over || performance.now() > deadline)
        throw new Error(`${String(pattern)} was not printed:\n${this.stdout}${this.stderr}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGTERM");
    const killer = setTimeout(() => this.#child.kill("SIGKILL"), PATIENCE_MS);
    await this.ended;
    clearTimeout(killer);
  }
}
