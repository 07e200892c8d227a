import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePorts, listening } from "@bridge/tooling/listening";
import { type Launch, type RabbitmqNode, rabbitmqNode } from "@bridge/tooling/rabbitmq-node";

const START_TIMEOUT_MS = 120_000;

/** A RabbitMQ that a test may treat as it likes. */
export class OwnBroker implements AsyncDisposable {
  readonly port: number;
  readonly #node: RabbitmqNode;
  readonly #folder: string;
  readonly #mapper: ChildProcess;
  #broker: ChildProcess | undefined;

  private constructor(port: number, node: RabbitmqNode, folder: string) {
    this.port = port;
    this.#node = node;
    this.#folder = folder;
    this.#mapper = launch(node.mapper);
  }

  static async start(settings: readonly string[], application: Readonly<Record<string, string>>): Promise<OwnBroker> {
    const folder = await mkdtemp(join(tmpdir(), "own-rabbitmq-"));
    const [amqp, node, mapper] = (await freePorts(3)) as [number, number, number];
    const broker = new OwnBroker(
      amqp,
      await rabbitmqNode({ folder, ports: { amqp, node, mapper }, settings, application }),
      folder,
    );
    try {
      await listening(mapper, START_TIMEOUT_MS);
      await broker.start();
      return broker;
    } catch (error) {
      await broker[Symbol.asyncDispose]();
      throw error;
    }
  }

  async start(): Promise<void> {
    const broker = (this.#broker = launch(this.#node.broker));
    const left = once(broker, "exit").then(([code]) => {
      throw new Error(`RabbitMQ has ended at its start, with code ${code}`);
    });
    left.catch(() => {});
    await Promise.race([listening(this.port, START_TIMEOUT_MS), left]);
  }

  async stop(): Promise<void> {
    await end(this.#broker, "SIGTERM");
  }

  pause(): void {
    this.#broker?.kill("SIGSTOP");
  }

  resume(): void {
    this.#broker?.kill("SIGCONT");
  }

  /** Runs `rabbitmqctl`. */
  async control(...args: readonly string[]): Promise<void> {
    const { file, args: all, env } = this.#node.control(...args);
    await promisify(execFile)(file, all, { env });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await end(this.#broker, "SIGKILL");
    await end(this.#mapper, "SIGKILL");
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function launch({ file, args, env }: Launch): ChildProcess {
  return spawn(file, args, { env, stdio: "ignore" });
}

async function end(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill(signal);
  await exit;
}
