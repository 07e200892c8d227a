import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Message, Question, Usage } from "./answer.ts";

const ANSWER = new URL("answer.ts", import.meta.url).href;
const START_TIMEOUT_MS = 20_000;
const EXIT_TIMEOUT_MS = 5_000;

export interface ChildOptions {
  /** The program, and what it is to do. */
  readonly program: URL;
  readonly job: unknown;
  /** Where a CPU profile of the process is written; none without it. */
  readonly profileDir?: string | undefined;
}

/** One program of the benchmark in a process of its own. */
export class Child implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #name: string;
  readonly #ready = Promise.withResolvers<void>();
  readonly #questions = new Map<number, PromiseWithResolvers<unknown>>();
  #asked = 0;
  #ended: Error | undefined;

  private constructor({ program, job, profileDir }: ChildOptions) {
    this.#ready.promise.catch(() => {});
    this.#name = program.pathname.split("/").at(-1) ?? "";
    const profile = profileDir === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profileDir}`];
    this.#process = fork(program, [JSON.stringify(job)], {
      execArgv: [...process.execArgv, ...profile, "--import", ANSWER],
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#process.on("message", (message: Message) => this.#hear(message));
    this.#process.on("exit", (code) => this.#end(new Error(`${this.#name} has ended, with code ${code}`)));
  }

  /** Starts the program; resolves when it says that it is ready. */
  static async start(options: ChildOptions): Promise<Child> {
    const child = new Child(options);
    try {
      await within(START_TIMEOUT_MS, `${child.#name} was not ready`, child.#ready.promise);
      return child;
    } catch (error) {
      await child[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Asks the program; the answer's type is the asker's to know. */
  async ask<Answer>(name: string, argument: unknown, timeoutMs: number): Promise<Answer> {
    const question: Question = { id: this.#asked++, name, argument };
    const pending = Promise.withResolvers<unknown>();
    this.#questions.set(question.id, pending);
    this.#process.send(question, (error) => error && pending.reject(this.#ended ?? error));
    return (await within(timeoutMs, `${this.#name} did not answer "${name}"`, pending.promise)) as Answer;
  }

  usage(): Promise<Usage> {
    return this.ask<Usage>("usage", undefined, 10_000);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exit = once(this.#process, "exit");
    if (this.#process.connected) this.#process.disconnect();
    await within(EXIT_TIMEOUT_MS, "", exit).catch(() => this.#process.kill("SIGKILL"));
    await exit;
  }

  #hear(message: Message): void {
    if (message.kind === "ready") {
      this.#ready.resolve();
      return;
    }
    const pending = this.#questions.get(message.id);
    this.#questions.delete(message.id);
    if (message.kind === "answer") pending?.resolve(message.answer);
    else pending?.reject(new Error(`${this.#name}: ${message.error}`));
  }

  #end(error: Error): void {
    this.#ended = error;
    this.#ready.reject(error);
    for (const pending of this.#questions.values()) pending.reject(error);
    this.#questions.clear();
  }
}

async function within<Value>(ms: number, problem: string, promise: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${problem} within ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
