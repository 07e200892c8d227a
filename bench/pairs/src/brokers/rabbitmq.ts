import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { env as environment } from "node:process";
import { promisify } from "node:util";
import { type Channel, connect } from "amqplib";
import type { Usage } from "../../../src/harness/answer.ts";
import { freePort } from "@bridge/tooling/listening";
import { ServerProcess } from "../../../src/harness/server-process.ts";

/** Where its programs are on Debian and on Red Hat; those on the path change the user first. */
const FOLDERS = ["/usr/lib/rabbitmq/bin", "/opt/rabbitmq/sbin", "/usr/local/opt/rabbitmq/sbin"] as const;
const START_TIMEOUT_MS = 90_000;
const NODE = "bench@localhost";
/** Its threads sleep when there is nothing to do, instead of looking for work: what they use is what messages cost. */
const NO_BUSY_WAITING = "+sbwt none +sbwtdcpu none +sbwtdio none";

/** A RabbitMQ of the benchmark's own, with Shovel. It takes many seconds to start, so that one is there for all runs. */
export class RabbitMq implements AsyncDisposable {
  readonly #server: ServerProcess;
  readonly #names: AsyncDisposable;
  readonly #env: Readonly<Record<string, string>>;
  readonly #channel: Channel;
  #named = 0;

  private constructor(
    server: ServerProcess,
    names: AsyncDisposable,
    env: Readonly<Record<string, string>>,
    at: Channel,
  ) {
    this.#server = server;
    this.#names = names;
    this.#env = env;
    this.#channel = at;
  }

  /** @throws Error when it is not installed, or does not start */
  static async start(): Promise<RabbitMq> {
    const [port, distribution, epmd] = [await freePort(), await freePort(), await freePort()];
    const own: Record<string, string> = {
      RABBITMQ_NODENAME: NODE,
      RABBITMQ_NODE_PORT: String(port),
      RABBITMQ_NODE_IP_ADDRESS: "127.0.0.1",
      RABBITMQ_DIST_PORT: String(distribution),
      RABBITMQ_CONF_ENV_FILE: "/dev/null",
      ERL_EPMD_ADDRESS: "127.0.0.1",
      ERL_EPMD_PORT: String(epmd),
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: `-kernel inet_dist_use_interface {127,0,0,1} ${NO_BUSY_WAITING}`,
    };
    const names = await nameServer(epmd);
    try {
      const server = await ServerProcess.start(async (folder) => {
        own["HOME"] = folder;
        own["RABBITMQ_MNESIA_BASE"] = join(folder, "mnesia");
        own["RABBITMQ_LOG_BASE"] = join(folder, "log");
        own["RABBITMQ_CONFIG_FILE"] = join(folder, "rabbitmq");
        own["RABBITMQ_ENABLED_PLUGINS_FILE"] = join(folder, "enabled_plugins");
        await writeFile(join(folder, "enabled_plugins"), "[rabbitmq_shovel].\n");
        return { command: program("rabbitmq-server"), args: [], env: own, port, startTimeoutMs: START_TIMEOUT_MS };
      });
      const connection = await connect(`amqp://127.0.0.1:${port}`);
      connection.on("error", () => {});
      return new RabbitMq(server, names, own, await connection.createChannel());
    } catch (error) {
      await names[Symbol.asyncDispose]();
      throw error;
    }
  }

  get port(): number {
    return this.#server.port;
  }

  get version(): string {
    const properties = this.#channel.connection.serverProperties as { readonly version?: string };
    return properties.version ?? "unknown";
  }

  usage(): Promise<Usage> {
    return this.#server.usage();
  }

  /** A name like this one, which nobody has had: the queues of all contenders are there at the same time. */
  newName(name: string): string {
    return `${name}.${++this.#named}`;
  }

  /** Durable classic queues, which are the broker's quickest, gone again when disposed. */
  async queues(...names: readonly string[]): Promise<AsyncDisposable> {
    for (const name of names) await this.#channel.assertQueue(name, { durable: true });
    return {
      [Symbol.asyncDispose]: async () => {
        for (const name of names) await this.#channel.deleteQueue(name);
      },
    };
  }

  async consumersOf(queue: string): Promise<number> {
    return (await this.#channel.checkQueue(queue)).consumerCount;
  }

  /** Runs the broker's own command. */
  async control(...args: readonly string[]): Promise<void> {
    await promisify(execFile)(program("rabbitmqctl"), ["--quiet", "--node", NODE, ...args], {
      env: { ...environment, ...this.#env },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
    await this.#names[Symbol.asyncDispose]();
  }
}

/** Erlang's name server, which a node would start by itself and leave behind. */
async function nameServer(port: number): Promise<AsyncDisposable> {
  return ServerProcess.start(async () => ({
    command: "epmd",
    args: ["-address", "127.0.0.1", "-port", String(port)],
    port,
    startTimeoutMs: START_TIMEOUT_MS,
  }));
}

function program(name: string): string {
  const found = FOLDERS.map((folder) => join(folder, name)).find(existsSync);
  if (found !== undefined) return found;
  throw new Error(`${name} is not in ${FOLDERS.join(", ")}: install RabbitMQ, or leave pairs with AMQP out (--pairs)`);
}
