import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Guard } from "./guard.ts";

/** How a process ended: its exit code, or the signal that killed it. */
export type Ending = number | NodeJS.Signals;

/** One process of the torture, known to the guard from its start to its end. */
export class PartProcess {
  readonly ended: Promise<Ending>;
  readonly #child: ChildProcess;
  readonly #name: string;
  #ending: Ending | undefined;

  constructor(name: string, child: ChildProcess, guard: Guard) {
    this.#name = name;
    this.#child = child;
    const { pid } = child;
    if (pid !== undefined) guard.note({ kind: "started", pid });
    this.ended = new Promise((resolve, reject) => {
      child.once("error", (error: NodeJS.ErrnoException) => {
        const why = error.code === "ENOENT" ? `install ${child.spawnfile}, or put it on the PATH` : error.message;
        reject(new Error(`${name} cannot be started: ${why}`));
      });
      child.once("exit", (code, signal) => {
        if (pid !== undefined) guard.note({ kind: "ended", pid });
        this.#ending = code ?? signal ?? 1;
        resolve(this.#ending);
      });
    });
    this.ended.catch(() => {});
  }

  get running(): boolean {
    return this.#ending === undefined && this.#child.pid !== undefined;
  }

  /** Does nothing when it has ended. */
  signal(signal: NodeJS.Signals): void {
    if (this.running) this.#child.kill(signal);
  }

  async kill(): Promise<void> {
    if (!this.running) return;
    this.#child.kill("SIGKILL");
    await this.ended;
  }

  /** Asks it to end, also when it is stopped. @throws Error when it does not within the bound */
  async terminate(withinMs: number): Promise<Ending> {
    this.signal("SIGTERM");
    this.signal("SIGCONT");
    const late = new AbortController();
    const ending = await Promise.race([
      this.ended,
      sleep(withinMs, undefined, { signal: late.signal }).catch(() => undefined),
    ]);
    late.abort();
    if (ending === undefined) throw new Error(`${this.#name} has not ended within ${withinMs} ms of SIGTERM`);
    return ending;
  }
}
