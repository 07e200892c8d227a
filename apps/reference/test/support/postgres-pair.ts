import { setTimeout as delay } from "node:timers/promises";
import { PostgresCluster } from "@bridge/tooling/postgres-cluster";
import { probe } from "./ask.ts";
import type { Binary } from "./binary.ts";
import { ADMIN_KEY, Folder, HTTP } from "./folder.ts";
import { Mosquitto } from "./mosquitto.ts";
import { publish } from "./publish.ts";
import { Target } from "./target.ts";
import { until } from "./until.ts";

const TTL_MS = 4_000;
const POLL_MS = 300;
/** Of one route: what may come twice each time that somebody is cut off. */
export const IN_FLIGHT = 20;
/** What one instance of the pair takes at a time. */
const FRESH = 30;

export type DeliveryMode = "direct_hold" | "shared_outbox";

/** What happens while messages flow. */
export type Trouble =
  /** The server of the stores ends, as an operator or as a power cut ends it, and is started again. */
  | "restart"
  | "crash"
  /** It stands still, for less or for more than a lease lasts. */
  | "freeze"
  | "freeze past the ttl"
  /** The instance that holds the session is killed. */
  | "kill the owner";

/** Two instances of one bridge on one PostgreSQL; one that ends is replaced, as an orchestrator does. */
export class PostgresPair implements AsyncDisposable {
  readonly postgres: PostgresCluster;
  readonly target: Target;
  readonly #folder: Folder;
  readonly #broker: Mosquitto;
  readonly #mode: DeliveryMode;
  readonly #instances: Binary[] = [];
  #started = 0;
  #published = 0;
  #over = false;

  private constructor(
    mode: DeliveryMode,
    folder: Folder,
    broker: Mosquitto,
    postgres: PostgresCluster,
    target: Target,
  ) {
    this.#mode = mode;
    this.#folder = folder;
    this.#broker = broker;
    this.postgres = postgres;
    this.target = target;
  }

  static async start(mode: DeliveryMode): Promise<PostgresPair> {
    const folder = new Folder();
    const [broker, postgres] = await Promise.all([Mosquitto.start(folder), PostgresCluster.start()]);
    const pair = new PostgresPair(mode, folder, broker, postgres, await Target.open("accepts"));
    await using tables = folder.run(["-create-tables", "-config", pair.#document("tables")]);
    if ((await tables.ended) !== 0) throw new Error(tables.stderr);
    for (const _ of ["owner", "standby"]) pair.#run();
    await pair.owner();
    return pair;
  }

  /** Whoever holds the session and carries messages. */
  async owner(): Promise<Binary> {
    let found: Binary | undefined;
    await until(
      "somebody active",
      async () => {
        for (const instance of this.#instances) if (await isActive(instance)) found = instance;
        return found !== undefined;
      },
      () => this.#started,
    );
    if (found === undefined) throw new Error("nobody is active");
    return found;
  }

  /** Lets messages flow, and troubles come one after another among them; resolves when all messages have settled. */
  async through(troubles: readonly Trouble[]): Promise<void> {
    const traffic = new AbortController();
    const published = this.#publish(traffic.signal);
    for (const trouble of troubles) {
      await this.#flows();
      await this.#meet(trouble);
    }
    await this.#flows();
    traffic.abort();
    await published;
    await until(
      `all ${this.#published} arrived`,
      () => this.distinct === this.#published,
      () => this.target.accepted.length,
    );
  }

  get published(): number {
    return this.#published;
  }

  get distinct(): number {
    return new Set(this.target.accepted).size;
  }

  /** `bridge_unaccounted_messages` of each instance that runs. */
  async unaccounted(): Promise<readonly string[]> {
    const texts = await Promise.all(
      this.#instances.map(async (instance) => {
        const headers = { "X-API-Key": ADMIN_KEY };
        return (await fetch(`${await instance.url("monitor")}/api/v1/monitor/metrics`, { headers })).text();
      }),
    );
    return texts.map((text) => /^bridge_unaccounted_messages(?:\{[^}]*\})? (\S+)$/m.exec(text)?.[1] ?? "not told");
  }

  async #meet(trouble: Trouble): Promise<void> {
    if (trouble === "restart" || trouble === "crash") {
      await this.postgres.stop(trouble === "restart" ? "fast" : "immediate");
      await this.postgres.restart();
    } else if (trouble === "kill the owner") {
      const owner = await this.owner();
      owner.kill("SIGKILL");
      await owner.ended;
      await this.owner();
    } else {
      this.postgres.freeze();
      await delay(trouble === "freeze" ? TTL_MS / 4 : TTL_MS * 1.5);
      this.postgres.thaw();
      await this.owner();
    }
  }

  /** Waits until messages have arrived that were not there before. */
  async #flows(): Promise<void> {
    const before = this.distinct;
    await until(
      "messages arrive",
      () => this.distinct >= before + FRESH,
      () => this.distinct,
    );
  }

  /** Numbers, one every few milliseconds. */
  async #publish(signal: AbortSignal): Promise<void> {
    const next = (): string => String(this.#published++);
    await publish(
      this.#broker.port,
      ["-t", "in"],
      (async function* () {
        while (!signal.aborted) {
          yield next();
          await delay(5);
        }
      })(),
    );
  }

  #run(): void {
    const instance = this.#folder.run(["-config", this.#document(`i${this.#started++}`)]);
    this.#instances.push(instance);
    void instance.ended.then(() => {
      this.#instances.splice(this.#instances.indexOf(instance), 1);
      if (!this.#over) this.#run();
    });
  }

  #document(name: string): string {
    const store = `{type: postgres, options: {url: "${this.postgres.url}"}}`;
    return this.#folder.write(
      `${name}.yaml`,
      `${HTTP}
bridge: {id: pair, instance_id: ${name}, deployment_mode: clustered, lease_ttl: ${TTL_MS}ms, lease_poll_interval: ${POLL_MS}ms}
stores: {lease: ${store}, dlq: ${store}, outbox: ${store}}
sessions: [{id: broker, transport: mqtt, session_mode: exclusive, options: {broker_urls: ["mqtt://127.0.0.1:${this.#broker.port}"]}}]
receivers: [{id: in, session_id: broker, topics: [{topic: in, qos: 1}]}]
senders: [{id: out, transport: http, options: {url: "${this.target.url}"}}]
bindings: [{id: to-out, sender_id: out}]
routes: [{id: r, receiver_id: in, delivery_mode: ${this.#mode}, bindings: [to-out], policy: {max_in_flight: ${IN_FLIGHT}, replay_budget: 1h}}]
`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over = true;
    await Promise.all(this.#instances.map((instance) => instance[Symbol.asyncDispose]()));
    await this.target[Symbol.asyncDispose]();
    await this.postgres[Symbol.asyncDispose]();
    await this.#broker[Symbol.asyncDispose]();
    this.#folder[Symbol.dispose]();
  }
}

async function isActive(instance: Binary): Promise<boolean> {
  try {
    const { status, body } = await probe(await instance.url("monitor"), "ready?level=subscribed");
    return status === 200 && (body as { role?: unknown }).role === "active";
  } catch {
    return false;
  }
}
