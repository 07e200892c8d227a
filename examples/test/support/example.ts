import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseEnv } from "node:util";
import { EXAMPLES, Program } from "./program.ts";

/** The binary that was built before the tests. */
export const BINARY = fileURLToPath(new URL("dist/main.js", import.meta.resolve("@bridge/reference/package.json")));

type Environment = Readonly<Record<string, string>>;

/** What the examples refer to, as a user has it. */
export const EXAMPLE_ENV = parseEnv(readFileSync(`${EXAMPLES}example.env`, "utf8")) as Environment;

/** An environment of its own for a test: topics that nobody else uses, and any free ports. */
export function ownEnvironment(own: Environment): Environment & { readonly TOPICS: string } {
  const anywhere = "127.0.0.1:0";
  return {
    ...EXAMPLE_ENV,
    TOPICS: `example-${randomUUID()}`,
    ADMIN_ADDR: anywhere,
    MONITOR_ADDR: anywhere,
    INGEST_ADDR: anywhere,
    ...own,
  };
}

/** As far as a test looks at it. */
interface LogLine {
  readonly msg: string;
  readonly url?: string;
  readonly port?: number;
}

const PATIENCE_MS = 45_000;

/** An example's configuration in the reference binary; disposing it leaves no process behind. */
export class Example implements AsyncDisposable {
  readonly #program: Program;
  readonly #env: Environment;
  #over = false;

  private constructor(file: string, env: Environment) {
    this.#program = new Program(BINARY, ["-config", resolve(EXAMPLES, file)], env);
    this.#env = env;
    void this.#program.ended.then(() => (this.#over = true));
  }

  /** Resolves when it is ready for traffic. */
  static async run(file: string, env: Environment): Promise<Example> {
    const example = new Example(file, env);
    try {
      await example.#until(async () => {
        const { url } = example.logged("monitor server listens") ?? {};
        return url !== undefined && (await fetch(`${url}/api/v1/monitor/ready`)).ok;
      });
      return example;
    } catch (error) {
      await example[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The first line of the log with this sentence. */
  logged(msg: string): LogLine | undefined {
    const lines = this.#program.stderr.split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line) as LogLine).find((line) => line.msg === msg);
  }

  /** Asks the admin server. */
  async admin(path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${this.logged("admin server listens")?.url}/api/v1/admin${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { "X-API-Key": this.#env["ADMIN_KEY"] ?? "" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return response.json();
  }

  /** Sends a signal; resolves with the exit code, or the signal when that ended it. */
  async end(signal: "SIGTERM" | "SIGKILL"): Promise<number | NodeJS.Signals> {
    this.#program.kill(signal);
    return this.#program.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program[Symbol.asyncDispose]();
  }

  async #until(holds: () => Promise<boolean>): Promise<void> {
    for (const deadline = performance.now() + PATIENCE_MS; !(await holds().catch(() => false)); await delay(20)) {
      if (this.#over || performance.now() > deadline) throw new Error(`it is not ready:\n${this.#program.stderr}`);
    }
  }
}
