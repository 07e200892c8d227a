import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePorts } from "@bridge/tooling/listening";
import { PostgresCluster } from "@bridge/tooling/postgres-cluster";
import { type ChannelModel, type ConfirmChannel, connect } from "amqplib";
import type { MqttClient } from "mqtt";
import { Client } from "pg";
import { connectTo } from "../../../torture/src/auditor/mqtt-source.ts";
import type { Broker } from "../../../torture/src/parts/broker.ts";
import { startConfigured } from "../../../torture/src/parts/configured-broker.ts";
import { Guard } from "../../../torture/src/parts/guard.ts";
import { startRabbitmq } from "../../../torture/src/parts/rabbitmq.ts";
import { REFUSED_TOPICS } from "./names.ts";

const TEMPLATE = "compared";

/** What all scenarios share: servers that are started once, and connections of the comparison's own to them. */
export interface RealStage extends AsyncDisposable {
  readonly folder: string;
  readonly guard: Guard;
  /** The program of the bridge. */
  readonly program: string;
  readonly mosquitto: Broker;
  readonly rabbitmqPort: number;
  readonly mqtt: MqttClient;
  readonly amqp: ConfirmChannel;
  readonly postgres: PostgresCluster;
  /** A new database with the bridge's tables; its URL. */
  database(name: string): Promise<string>;
}

export async function openRealStage(program: string): Promise<RealStage> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "bridge-compare-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const guard = stack.use(new Guard());
  const [mqttPort, amqpPort] = (await freePorts(2)) as [number, number];
  // Each is noted as soon as it is there: when one does not start, the others end.
  const starting = [
    startMosquitto(mqttPort, join(folder, "mosquitto"), guard).then((broker) => stack.use(broker)),
    startRabbitmq({ name: "RabbitMQ", port: amqpPort, folder: join(folder, "rabbitmq"), guard }, stack),
    PostgresCluster.start().then((cluster) => stack.use(cluster)),
  ] as const;
  await Promise.allSettled(starting);
  const [mosquitto, rabbitmq, postgres] = await Promise.all(starting);
  await createTemplate(postgres, folder, program);
  const mqtt = await connectTo(mqttPort, "compare");
  stack.defer(() => mqtt.endAsync(true));
  const amqp = await channelTo(rabbitmq.port, stack);
  const opened = stack.move();
  return {
    folder,
    guard,
    program,
    mosquitto,
    rabbitmqPort: rabbitmq.port,
    mqtt,
    amqp,
    postgres,
    async database(name) {
      await query(postgres, `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`);
      return urlOf(postgres, name);
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** As that of the torture, with topics that nobody may publish to. */
async function startMosquitto(port: number, folder: string, guard: Guard): Promise<Broker> {
  const rules = `${folder}.acl`;
  await writeFile(rules, `topic readwrite #\ntopic deny ${REFUSED_TOPICS}\n`, { mode: 0o600 });
  const lines = [
    "user root",
    `listener ${port} 127.0.0.1`,
    "allow_anonymous true",
    `acl_file ${rules}`,
    "set_tcp_nodelay true",
    "persistence true",
    `persistence_location ${folder}/`,
    "autosave_interval 0",
    // Without a limit at all, Mosquitto 2.0.11 drops a client whose publish it refuses.
    "max_queued_messages 100000",
    "max_inflight_messages 0",
    "log_dest none",
  ];
  return startConfigured("mosquitto", lines, { name: "Mosquitto", port, folder, guard });
}

async function channelTo(port: number, stack: AsyncDisposableStack): Promise<ConfirmChannel> {
  const connection: ChannelModel = await connect({ hostname: "127.0.0.1", port }, { noDelay: true });
  stack.defer(() => connection.close().catch(() => {}));
  return connection.createConfirmChannel();
}

/** A database with the tables, which others are copied from: that is quicker than to make them each time. */
async function createTemplate(postgres: PostgresCluster, folder: string, program: string): Promise<void> {
  await query(postgres, `CREATE DATABASE ${TEMPLATE}`);
  const options = { url: urlOf(postgres, TEMPLATE) };
  const configuration = join(folder, "tables.yaml");
  const stores = { dlq: { type: "postgres", options }, outbox: { type: "postgres", options } };
  await writeFile(configuration, JSON.stringify({ bridge: { id: "compare" }, stores }));
  await promisify(execFile)(process.execPath, [program, "-create-tables", "-config", configuration]);
}

function urlOf({ url }: PostgresCluster, name: string): string {
  return url.replace(/\/postgres$/, `/${name}`);
}

async function query({ url }: PostgresCluster, text: string): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
