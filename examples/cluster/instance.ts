import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";

/** An orchestrator starts a task again that has ended. */
const RESTART_AFTER_MS = 8_000;

export interface Place {
  readonly name: "a" | "b";
  readonly admin: number;
  readonly monitor: number;
  /** Its log goes there. */
  readonly log: string;
}

/** A program to be run by Node. */
export interface Command {
  readonly file: string;
  readonly args?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** One instance of a bridge, started again some seconds after it has ended. */
export class Instance implements AsyncDisposable {
  readonly place: Place;
  readonly #command: Command;
  readonly #onEnd: (how: string) => void;
  #child: ChildProcess;
  #timer: NodeJS.Timeout | undefined;
  #over = false;

  constructor(place: Place, command: Command, onEnd: (how: string) => void) {
    this.place = place;
    this.#command = command;
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
    const { file, args = [], env } = this.#command;
    const child = spawn(process.execPath, [file, ...args], {
      env,
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

/** `a active full (pid 4711)`, as its probes say. */
export async function stateOf({ place, pid }: Instance): Promise<string> {
  try {
    const signal = AbortSignal.timeout(1_000);
    const ready = await fetch(`http://127.0.0.1:${place.monitor}/api/v1/monitor/ready?level=full`, { signal });
    const { role, level } = (await ready.json()) as { readonly role: string; readonly level: string };
    return `${place.name} ${role} ${level} (pid ${pid})`;
  } catch {
    return `${place.name} away`;
  }
}
