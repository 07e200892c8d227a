import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export interface SubscriberOptions {
  readonly port: number;
  readonly topic: string;
  /** As `mosquitto_sub` has it, a line for each message: `%p` is its payload. */
  readonly format: string;
  readonly args?: readonly string[];
  readonly onLine: (line: string) => void;
}

/** A `mosquitto_sub` with a session that the broker keeps, so that it misses nothing; a process of its own. */
export class Subscriber implements AsyncDisposable {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Resolves when the broker has acknowledged the subscription. */
  static async open({ port, topic, format, args = [], onLine }: SubscriberOptions): Promise<Subscriber> {
    const session = ["-p", String(port), "-i", `subscriber-to-${topic}`, "-c", "-q", "1", "-t", topic];
    const join = spawn("mosquitto_sub", [...session, ...args, "-E"], { stdio: "inherit" });
    const [code] = (await once(join, "exit")) as [number | null];
    if (code !== 0) throw new Error(`mosquitto_sub has ended with ${String(code)}`);
    const child = spawn("mosquitto_sub", [...session, ...args, "-F", format], { stdio: ["ignore", "pipe", "inherit"] });
    createInterface(child.stdout).on("line", onLine);
    return new Subscriber(child);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, "exit");
  }
}
