import { setTimeout as sleep } from "node:timers/promises";
import type { Usage } from "../../../src/harness/answer.ts";
import type { RabbitMq } from "../brokers/rabbitmq.ts";
import type { PairJob } from "../job.ts";
import type { Carrying } from "../run/carrying.ts";

const NAME = "bench";
const START_TIMEOUT_MS = 20_000;

/** RabbitMQ's Shovel between two queues: acknowledges when the target has confirmed, with the window as its prefetch. */
export async function startShovel(rabbit: RabbitMq, { from, to, window }: PairJob): Promise<Carrying> {
  const shovel = {
    "src-protocol": "amqp091",
    "src-uri": `amqp://127.0.0.1:${from.port}`,
    "src-queue": from.name,
    "src-prefetch-count": window,
    "dest-protocol": "amqp091",
    "dest-uri": `amqp://127.0.0.1:${to.port}`,
    "dest-queue": to.name,
    "ack-mode": "on-confirm",
  };
  await rabbit.control("set_parameter", "shovel", NAME, JSON.stringify(shovel));
  const stop = (): Promise<void> => rabbit.control("clear_parameter", "shovel", NAME);
  const end = performance.now() + START_TIMEOUT_MS;
  while ((await rabbit.consumersOf(from.name)) === 0) {
    if (performance.now() > end) {
      await stop();
      throw new Error(`Shovel consumes nothing after ${START_TIMEOUT_MS} ms`);
    }
    await sleep(20);
  }
  return { usage: unknown, [Symbol.asyncDispose]: stop };
}

/** It works inside the broker, and cannot be told apart from it. */
async function unknown(): Promise<Usage> {
  return { cpuMs: Number.NaN, peakRssBytes: Number.NaN };
}
