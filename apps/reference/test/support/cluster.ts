import { PATIENCE } from "@bridge/tooling/patience";
import { fileURLToPath } from "node:url";
import { createTable, DynamoClient, leaseTable, openDynamodbLeases } from "@bridge/dynamodb";
import { type LeaseRecord, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { type TestDynamo, testDynamo } from "@bridge/tooling/test-dynamodb";
import { Binary } from "./binary.ts";
import { bridgeOnDynamodb } from "./bridge-on-dynamodb.ts";
import { Folder, HTTP } from "./folder.ts";
import { Mosquitto } from "./mosquitto.ts";
import { publish } from "./publish.ts";
import { Target } from "./target.ts";
import { until } from "./until.ts";

export const TTL_MS = 4_000;
const POLL_MS = 300;
const TABLE = "leases";
export const JUMPING_CLOCK = fileURLToPath(new URL("jumping-clock.ts", import.meta.url));

/** Instances of one bridge as processes, which have a broker, a table of leases and a target in common. */
export class Cluster implements AsyncDisposable {
  readonly folder: Folder;
  readonly broker: Mosquitto;
  readonly dynamo: TestDynamo;
  readonly target: Target;
  readonly #program: Awaited<ReturnType<typeof bridgeOnDynamodb>>;
  readonly #instances: Binary[] = [];
  #published = 0;

  private constructor(
    parts: Pick<Cluster, "folder" | "broker" | "dynamo" | "target">,
    program: Awaited<ReturnType<typeof bridgeOnDynamodb>>,
  ) {
    this.#program = program;
    ({ folder: this.folder, broker: this.broker, dynamo: this.dynamo, target: this.target } = parts);
  }

  static async start(): Promise<Cluster> {
    const folder = new Folder();
    const broker = await Mosquitto.start(folder);
    const dynamo = await testDynamo();
    const target = await Target.open("accepts");
    const seams = { clock: systemClock, random: systemRandom(), logger: silentLogger };
    await using client = new DynamoClient({ ...seams, sdk: dynamo.sdk });
    await createTable(leaseTable(TABLE), client, systemClock, AbortSignal.timeout(PATIENCE.timeout));
    return new Cluster({ folder, broker, dynamo, target }, await bridgeOnDynamodb(dynamo.sdk));
  }

  /** Starts an instance; `preload` is a module to load before it. */
  run(name: string, preload?: string): Binary {
    const file = this.folder.write(`${name}.yaml`, documentOf(name, this.broker.port, this.target.url));
    const { file: program, env } = this.#program;
    const options = preload === undefined ? env.NODE_OPTIONS : `${env.NODE_OPTIONS} --import=${preload}`;
    const bridge = new Binary(["-config", file], {
      cwd: this.folder.path,
      file: program,
      env: { ...env, NODE_OPTIONS: options },
    });
    this.#instances.push(bridge);
    return bridge;
  }

  /** The lease as it stands in the table. */
  async lease(): Promise<LeaseRecord | undefined> {
    const seams = { clock: systemClock, random: systemRandom(), logger: silentLogger };
    await using store = await openDynamodbLeases(
      { ...seams, sdk: this.dynamo.sdk, tableName: TABLE },
      AbortSignal.timeout(PATIENCE.timeout),
    );
    return await store.read("cluster/broker", AbortSignal.timeout(PATIENCE.timeout));
  }

  /** Publishes numbers, a few each millisecond, until `signal` aborts; resolves with how many when the broker has all. */
  async publish(signal: AbortSignal): Promise<number> {
    const next = (): string => String(this.#published++);
    await publish(
      this.broker.port,
      ["-t", "in"],
      (async function* () {
        while (!signal.aborted) {
          yield next();
          await new Promise((resolve) => setTimeout(resolve, 3));
        }
      })(),
    );
    return this.#published;
  }

  /** The numbers that the target has. */
  get arrived(): ReadonlySet<string> {
    return new Set(this.target.accepted);
  }

  /** Waits until every number that was published has arrived. */
  async complete(): Promise<void> {
    await until(
      `all ${this.#published} arrived`,
      () => this.arrived.size === this.#published,
      () => this.target.accepted.length,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const instance of this.#instances) await instance[Symbol.asyncDispose]();
    await this.target[Symbol.asyncDispose]();
    await this.dynamo[Symbol.asyncDispose]();
    await this.broker[Symbol.asyncDispose]();
    this.folder[Symbol.dispose]();
  }
}

function documentOf(name: string, port: number, target: string): string {
  return `${HTTP}
bridge: {id: cluster, instance_id: ${name}, deployment_mode: clustered, lease_ttl: ${TTL_MS}ms, lease_poll_interval: ${POLL_MS}ms}
stores: {lease: {type: dynamodb, options: {table_name: ${TABLE}}}}
sessions: [{id: broker, transport: mqtt, session_mode: exclusive, options: {broker_urls: ["mqtt://127.0.0.1:${port}"]}}]
receivers: [{id: in, session_id: broker, topics: [{topic: in, qos: 1}]}]
senders: [{id: out, transport: http, options: {url: "${target}"}}]
bindings: [{id: to-out, sender_id: out}]
routes: [{id: r, receiver_id: in, bindings: [to-out], policy: {max_in_flight: 20, on_permanent_failure: drop, on_expired: drop}}]
`;
}
