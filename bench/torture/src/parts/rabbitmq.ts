import { spawn } from "node:child_process";
import { type Launch, rabbitmqNode } from "@bridge/tooling/rabbitmq-node";
import { Broker } from "./broker.ts";
import { freePorts, listening } from "@bridge/tooling/listening";
import type { BrokerOptions } from "./configured-broker.ts";
import { PartProcess } from "./part-process.ts";

const MAPPER_TIMEOUT_MS = 10_000;
/** Alone on a machine it takes some seconds. */
const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 60_000;

/** A RabbitMQ of the torture's own. What it has confirmed is in quorum queues, and so on its disk. */
export async function startRabbitmq(
  { name, port, folder, guard }: BrokerOptions,
  stack: AsyncDisposableStack,
): Promise<Broker> {
  const [node, mapper] = (await freePorts(2)) as [number, number];
  const { mapper: mapping, broker } = await rabbitmqNode({
    folder,
    ports: { amqp: port, node, mapper },
    // Half of the memory or the disk of a machine that others use too says nothing of this broker.
    settings: ["vm_memory_high_watermark.absolute = 2GB", "disk_free_limit.absolute = 50MB"],
  });
  const mapperProcess = new PartProcess(`the port mapper of ${name}`, launch(mapping), guard);
  stack.defer(() => mapperProcess.kill());
  await listening(mapper, MAPPER_TIMEOUT_MS);
  return stack.use(
    await Broker.start({
      name,
      port,
      guard,
      launch: () => launch(broker),
      startTimeoutMs: START_TIMEOUT_MS,
      stopTimeoutMs: STOP_TIMEOUT_MS,
    }),
  );
}

function launch({ file, args, env }: Launch) {
  return spawn(file, args, { env, stdio: "ignore" });
}
