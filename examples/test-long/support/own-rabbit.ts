import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts, listening } from "@bridge/tooling/listening";
import { type Launch, rabbitmqNode } from "@bridge/tooling/rabbitmq-node";

const START_TIMEOUT_MS = 120_000;

/** A RabbitMQ that a test may stop and start; what is durable in it stays. */
export class OwnRabbit implements AsyncDisposable {
  readonly url: string;
  readonly #port: number;
  readonly #launch: Launch;
  readonly #parts: AsyncDisposableStack;
  #broker: ChildProcess | undefined;

  private constructor(port: number, launch: Launch, parts: AsyncDisposableStack) {
    this.url = `amqp://127.0.0.1:${port}`;
    this.#port = port;
    this.#launch = launch;
    this.#parts = parts;
  }

  static async start(): Promise<OwnRabbit> {
    await using parts = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), "example-rabbitmq-"));
    parts.defer(() => rm(folder, { recursive: true, force: true }));
    const [amqp, node, mapper] = (await freePorts(3)) as [number, number, number];
    const { mapper: names, broker } = await rabbitmqNode({ folder, ports: { amqp, node, mapper } });
    const mapping = launched(names);
    parts.defer(() => ended(mapping, "SIGKILL"));
    await listening(mapper, START_TIMEOUT_MS);
    const rabbit = new OwnRabbit(amqp, broker, parts.move());
    try {
      await rabbit.start();
      return rabbit;
    } catch (error) {
      await rabbit[Symbol.asyncDispose]();
      throw error;
    }
  }

  async start(): Promise<void> {
    const broker = (this.#broker = launched(this.#launch));
    const left = once(broker, "exit").then(([code]) => {
      throw new Error(`RabbitMQ has ended at its start, with code ${code}`);
    });
    left.catch(() => {});
    await Promise.race([listening(this.#port, START_TIMEOUT_MS), left]);
  }

  async stop(): Promise<void> {
    await ended(this.#broker, "SIGTERM");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await ended(this.#broker, "SIGKILL");
    await this.#parts[Symbol.asyncDispose]();
  }
}

function launched({ file, args, env }: Launch): ChildProcess {
  return spawn(file, args, { env, stdio: "ignore" });
}

async function ended(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill(signal);
  await exit;
}
