import { type MosquittoSettings, startMosquitto } from "../../../src/harness/mosquitto.ts";
import { freePort } from "@bridge/tooling/listening";
import type { ServerProcess } from "../../../src/harness/server-process.ts";
import type { EndJob } from "../job.ts";
import { type Kind, type Pair } from "../pair.ts";
import { startNats } from "./nats-server.ts";
import type { RabbitMq } from "./rabbitmq.ts";

/** What is between the load and a contender, for one run only: empty brokers, and queues of a RabbitMQ that stays. */
export interface Scene extends AsyncDisposable {
  readonly from: EndJob;
  /** For HTTP without a port: the load's sink has one. */
  readonly to: EndJob;
  /** The broker of the source, where it is a process of its own. */
  readonly sourceBroker: ServerProcess | undefined;
  /** CPU milliseconds of all brokers. */
  cpuMs(): Promise<number>;
}

export interface SceneParts {
  readonly pair: Pair;
  readonly rabbit: RabbitMq | undefined;
  /** Has the source's Mosquitto know the target; by default it knows nothing. */
  readonly sourceSettings?: ((target: EndJob) => MosquittoSettings) | undefined;
}

/** A topic may have one name at both ends, as each has a broker of its own; the others share one. */
const NAMES: Readonly<Record<Kind, Readonly<Record<"from" | "to", string>>>> = {
  mqtt: { from: "bench/message", to: "bench/message" },
  amqp: { from: "bench.in", to: "bench.out" },
  nats: { from: "in", to: "out" },
  http: { from: "/bench", to: "/bench" },
};

export async function openScene({ pair, rabbit, sourceSettings }: SceneParts): Promise<Scene> {
  await using opened = new AsyncDisposableStack();
  const { from, to } = pair;
  const nameOf = (end: "from" | "to"): string => {
    const name = NAMES[pair[end]][end];
    return pair[end] === "amqp" ? (rabbit?.newName(name) ?? name) : name;
  };
  const names = { from: nameOf("from"), to: nameOf("to") };
  const brokers = new Set<Pick<ServerProcess, "usage">>();

  const namesOf = (kind: Kind): readonly string[] =>
    (["from", "to"] as const).filter((end) => pair[end] === kind).map((end) => names[end]);

  const queues = namesOf("amqp");
  if (queues.length > 0) {
    if (rabbit === undefined) throw new Error("a pair with AMQP needs a RabbitMQ");
    opened.use(await rabbit.queues(...queues));
    brokers.add(rabbit);
  }
  const streams = namesOf("nats");
  const nats = streams.length > 0 ? opened.use(await startNats(streams)) : undefined;
  if (nats !== undefined) brokers.add(nats);

  const mosquitto = async (settings?: MosquittoSettings): Promise<ServerProcess> => {
    const broker = opened.use(await startMosquitto(settings));
    brokers.add(broker);
    return broker;
  };
  const portOf = (kind: Kind, own: ServerProcess | undefined): number =>
    ({ mqtt: own, amqp: rabbit, nats, http: undefined })[kind]?.port ?? 0;
  const targetBroker = to === "mqtt" ? await mosquitto() : undefined;
  const target: EndJob = { kind: to, port: portOf(to, targetBroker), name: names.to };
  const sourceBroker = from === "mqtt" ? await mosquitto(sourceSettings?.(target)) : undefined;
  const fromPort = from === "http" ? await freePort() : portOf(from, sourceBroker);

  const all = opened.move();
  return {
    from: { kind: from, port: fromPort, name: names.from },
    to: target,
    sourceBroker,
    async cpuMs() {
      const usages = await Promise.all(Array.from(brokers, (broker) => broker.usage()));
      return usages.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
