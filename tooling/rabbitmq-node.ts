/**
 * How to start a RabbitMQ of one's own beside the one that stands ready: on ports of its own, with nothing of it outside its
 * folder, and without the service that the system may have. @module
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

const PROGRAM = "/usr/lib/rabbitmq/bin/rabbitmq-server";
const HOST = "127.0.0.1";

export interface RabbitmqNodeOptions {
  /** Made if it is not there. */
  readonly folder: string;
  /** For clients, for the node's own protocol, and for Erlang's port mapper. */
  readonly ports: { readonly amqp: number; readonly node: number; readonly mapper: number };
  /** Lines of `rabbitmq.conf`. */
  readonly settings?: readonly string[];
  /** What has no such line: parameters of the application, as terms of Erlang. */
  readonly application?: Readonly<Record<string, string>>;
}

/** A program and what it is started with. */
export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface RabbitmqNode {
  /** Has to be up before the broker, which would start one that outlives it. */
  readonly mapper: Launch;
  /** Becomes the broker itself, without another process in between; it is up when it listens, after some seconds. */
  readonly broker: Launch;
  /** `rabbitmqctl` for this broker, with these arguments. */
  control(...args: readonly string[]): Launch;
}

/** Writes the configuration of a node. It keeps its data over restarts; the user is `guest`. */
export async function rabbitmqNode(options: RabbitmqNodeOptions): Promise<RabbitmqNode> {
  const { folder, ports, settings = [], application = {} } = options;
  await mkdir(folder, { recursive: true });
  const files = { settings: join(folder, "rabbitmq.conf"), plugins: join(folder, "enabled_plugins") };
  await writeFile(files.settings, settings.map((line) => `${line}\n`).join(""));
  await writeFile(files.plugins, "[].\n");
  const parameters = Object.entries(application).map(([name, term]) => `-rabbit ${name} ${term}`);
  const env = {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    HOME: folder,
    ERL_CRASH_DUMP: join(folder, "erl_crash.dump"),
    // Not what the system's own node has set for all of them.
    RABBITMQ_CONF_ENV_FILE: "/dev/null",
    RABBITMQ_NODENAME: `bridge-${ports.amqp}@localhost`,
    RABBITMQ_NODE_PORT: String(ports.amqp),
    RABBITMQ_NODE_IP_ADDRESS: HOST,
    RABBITMQ_DIST_PORT: String(ports.node),
    RABBITMQ_MNESIA_BASE: join(folder, "mnesia"),
    RABBITMQ_LOG_BASE: join(folder, "log"),
    RABBITMQ_CONFIG_FILE: files.settings,
    RABBITMQ_ENABLED_PLUGINS_FILE: files.plugins,
    ERL_EPMD_ADDRESS: HOST,
    ERL_EPMD_PORT: String(ports.mapper),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: [
      "-kernel inet_dist_use_interface {127,0,0,1} +S 1:1 +sbwt none",
      ...parameters,
    ].join(" "),
    // Its script stays beside the broker otherwise, and signals reach the script alone.
    RUNNING_UNDER_SYSTEMD: "true",
  };
  return {
    mapper: { file: "epmd", args: ["-port", String(ports.mapper), "-address", HOST], env },
    broker: { file: PROGRAM, args: [], env },
    control: (...args) => ({ file: "/usr/lib/rabbitmq/bin/rabbitmqctl", args, env }),
  };
}
