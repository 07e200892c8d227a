import type { ChildProcess } from "node:child_process";
import type { Guard } from "./guard.ts";
import { listening } from "@bridge/tooling/listening";
import { PartProcess } from "./part-process.ts";

/** How one kind of broker is started and stopped. */
export interface BrokerProgram {
  readonly name: string;
  readonly port: number;
  readonly guard: Guard;
  readonly startTimeoutMs: number;
  readonly stopTimeoutMs: number;
  launch(): ChildProcess;
}

/** A broker in its own process, one after another on one port. */
export class Broker implements AsyncDisposable {
  readonly port: number;
  readonly #program: BrokerProgram;
  #process: PartProcess | undefined;

  private constructor(program: BrokerProgram) {
    this.port = program.port;
    this.#program = program;
  }

  /** @throws Error when its program is not on the path */
  static async start(program: BrokerProgram): Promise<Broker> {
    const broker = new Broker(program);
    await broker.start();
    return broker;
  }

  async start(): Promise<void> {
    const { name, guard, port, startTimeoutMs } = this.#program;
    const started = (this.#process = new PartProcess(name, this.#program.launch(), guard));
    const left = started.ended.then((ending) => {
      throw new Error(`${name} has ended at its start: ${ending}`);
    });
    await Promise.race([listening(port, startTimeoutMs), left]);
    left.catch(() => {});
  }

  async stop(): Promise<void> {
    await this.#process?.terminate(this.#program.stopTimeoutMs);
  }

  /** For those that lose nothing by it. */
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
