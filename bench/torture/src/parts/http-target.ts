import { fork } from "node:child_process";
import type { Guard } from "./guard.ts";
import { PartProcess } from "./part-process.ts";
import type { Behaviour, TargetJob, TargetNote } from "../target/job.ts";

const PROGRAM = new URL("../target/main.ts", import.meta.url);
const START_TIMEOUT_MS = 20_000;

export interface HttpTargetOptions extends Omit<TargetJob, "behaviour"> {
  readonly guard: Guard;
}

/** The web service that messages are sent to, in a process of its own; what it has kept outlives it. */
export class HttpTarget implements AsyncDisposable {
  readonly port: number;
  readonly #options: HttpTargetOptions;
  #behaviour: Behaviour = "healthy";
  #process: PartProcess | undefined;
  #tell: (behaviour: Behaviour) => void = () => {};

  private constructor(options: HttpTargetOptions) {
    this.port = options.port;
    this.#options = options;
  }

  static async start(options: HttpTargetOptions): Promise<HttpTarget> {
    const target = new HttpTarget(options);
    await target.start();
    return target;
  }

  async start(): Promise<void> {
    const { guard, ...job } = this.#options;
    const child = fork(PROGRAM, [JSON.stringify({ ...job, behaviour: this.#behaviour } satisfies TargetJob)], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#process = new PartProcess("the HTTP target", child, guard);
    this.#tell = (behaviour) => {
      // One that has just been killed may still look connected.
      if (child.connected) child.send(behaviour, () => {});
    };
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error("the HTTP target does not listen")), START_TIMEOUT_MS);
      child.once("message", (_note: TargetNote) => {
        clearTimeout(late);
        resolve();
      });
      child.once("exit", (code) => {
        clearTimeout(late);
        reject(new Error(`the HTTP target has ended at its start, with code ${code}`));
      });
    });
  }

  behave(behaviour: Behaviour): void {
    this.#behaviour = behaviour;
    this.#tell(behaviour);
  }

  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  pause(): void {
    this.#process?.signal("SIGSTOP");
  }

  resume(): void {
    this.#process?.signal("SIGCONT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
