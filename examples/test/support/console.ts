import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";

/** A command of a document, with what the document says that it prints. */
export interface ConsoleStep {
  readonly command: string;
  readonly prints: string;
}

const BLOCK = /^```console\n(.*?)^```$/gms;
const PATIENCE_MS = 45_000;
/** What only looks may be typed again until it shows what is to be seen. */
const LOOKS = /^(admin GET|curl|grep|tail) /;

/** The commands of all blocks of a document that show a shell: lines after `$ `, each followed by what it prints. */
export function consoleSteps(markdown: string): readonly ConsoleStep[] {
  return [...markdown.matchAll(BLOCK)].flatMap(([, block = ""]) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((step) => {
        const [command = "", ...lines] = step.trimEnd().split("\n");
        return { command, prints: lines.join("\n") };
      }),
  );
}

const ABOUT_JOBS = /^\[\d+\].*\n/gm;
/** Commands come by a channel of their own: a job that inherits the shell's input may change how that is read. */
const READ_AND_RUN =
  'set -m; exec 2>&1; while IFS= read -r -u 3 line; do eval "$line"; done; for job in $(jobs -p); do kill -KILL -- "-$job"; done';

/** A shell that a person types into; disposing it ends what was started in it. */
export class Console implements AsyncDisposable {
  readonly #shell: ChildProcess;
  readonly #input: Writable;
  #printed = "";
  #typed = 0;
  #over = false;

  constructor(folder: string, env: Readonly<Record<string, string | undefined>>) {
    const stdio = ["ignore", "pipe", "inherit", "pipe"] as const;
    this.#shell = spawn("bash", ["--noprofile", "--norc", "-c", READ_AND_RUN], { cwd: folder, env, stdio: [...stdio] });
    this.#shell.once("exit", () => (this.#over = true));
    const output = this.#shell.stdio[1] as Readable;
    output.setEncoding("utf8").on("data", (text: string) => (this.#printed += text));
    this.#input = this.#shell.stdio[3] as Writable;
  }

  /** Types a command, again until it prints what it has to where it only looks. Resolves with what it printed. */
  async type({ command, prints }: ConsoleStep): Promise<string> {
    for (const deadline = performance.now() + PATIENCE_MS; ; await delay(200)) {
      const printed = await this.#once(command);
      if (printed === prints || !LOOKS.test(command) || performance.now() > deadline) return printed;
    }
  }

  async #once(command: string): Promise<string> {
    const end = `--- ${++this.#typed} ---\n`;
    this.#printed = "";
    this.#input.write(`${command}\necho '${end.trimEnd()}'\n`);
    for (const deadline = performance.now() + PATIENCE_MS; !this.#printed.endsWith(end); await delay(10)) {
      if (this.#over || performance.now() > deadline) throw new Error(`${command}\ndid not end:\n${this.#printed}`);
    }
    return this.#printed.slice(0, -end.length).replace(ABOUT_JOBS, "").trimEnd();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#input.end();
    for (const deadline = performance.now() + PATIENCE_MS; !this.#over; await delay(10)) {
      if (performance.now() > deadline) this.#shell.kill("SIGKILL");
    }
  }
}
