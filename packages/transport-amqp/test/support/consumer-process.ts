/**
 * A process that consumes: takes `count` messages, settles those whose payload is listed, takes as many again, which come
 * when the broker has seen that, says which it has taken and stays until it is killed. Its parent gives it everything in one argument. @module
 */
import { accept, connected, Puller, receiver, session, text } from "./parts.ts";
import type { QueueType } from "./program.ts";

export interface ConsumerTask {
  readonly queue: string;
  readonly type: QueueType;
  readonly count: number;
  readonly settle: readonly string[];
}

const task = JSON.parse(process.argv[2] ?? "") as ConsumerTask;
const source = session();
const puller = new Puller(receiver(source, { queue: task.queue, queue_type: task.type }, { window: task.count }));
await connected(source);
const deliveries = await puller.take(task.count);
const settle = new Set(task.settle);
await Promise.all(deliveries.filter((delivery) => settle.has(text(delivery))).map(accept));
const more = await puller.take(settle.size);
process.send?.([...deliveries, ...more].map(text));
