import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Guard } from "./guard.ts";
import { listening } from "./listening.ts";
import { PartProcess } from "./part-process.ts";

const PROGRAM = "mosquitto";
const START_TIMEOUT_MS = 20_000;
const STOP_TIMEOUT_MS = 20_000;

export interface BrokerOptions {
  readonly name: string;
  readonly port: number;
  readonly folder: string;
  readonly guard: Guard;
}

/**
 * A Mosquitto that loses nothing: as it comes it drops beyond 1,000 waiting messages, and killed with SIGKILL it forgets
 * what it has acknowledged. So its queues have no limit, and it is only ever ended by SIGTERM, when it writes all down.
 */
export class Broker implements AsyncDisposable {
  readonly port: number;
  readonly #options: BrokerOptions;
  #process: PartProcess | undefined;

  private constructor(options: BrokerOptions) {
    this.port = options.port;
    this.#options = options;
  }

  /** @throws Error when `mosquitto` is not on the path */
  static async start(options: BrokerOptions): Promise<Broker> {
    const broker = new Broker(options);
    await mkdir(options.folder, { recursive: true });
    await writeFile(broker.#file, configuration(options));
    await broker.start();
    return broker;
  }

  async start(): Promise<void> {
    const { name, guard, port } = this.#options;
    const child = spawn(PROGRAM, ["-c", this.#file], { stdio: "ignore" });
    const started = (this.#process = new PartProcess(name, child, guard));
    const left = started.ended.then((ending) => {
      throw new Error(`${name} has ended at its start: ${ending}`);
    });
    await Promise.race([listening(port, START_TIMEOUT_MS), left]);
    left.catch(() => {});
  }

  async stop(): Promise<void> {
    await this.#process?.terminate(STOP_TIMEOUT_MS);
  }

  pause(): void {
    this.#process?.signal("SIGSTOP");
  }

  resume(): void {
    this.#process?.signal("SIGCONT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process?.kill();
  }

  get #file(): string {
    return join(this.#options.folder, "mosquitto.conf");
  }
}

function configuration({ port, folder }: BrokerOptions): string {
  const lines = [
    // Started by root it would become another user, who cannot write here; otherwise this has no effect.
    "user root",
    `listener ${port} 127.0.0.1`,
    "allow_anonymous true",
    "set_tcp_nodelay true",
    "persistence true",
    `persistence_location ${folder}/`,
    "autosave_interval 0",
    "max_queued_messages 0",
    "max_inflight_messages 0",
    `log_dest file ${join(folder, "mosquitto.log")}`,
    "log_type error",
    "log_type warning",
  ];
  return `${lines.join("\n")}\n`;
}
