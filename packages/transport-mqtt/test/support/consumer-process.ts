/**
 * A process that consumes: takes `count` messages, settles those whose payload is listed, says which it has taken and
 * stays until it is killed. Its parent gives it everything in one argument. @module
 */
import { accept, connected, Puller, receiver, session, text } from "./parts.ts";

export interface ConsumerTask {
  readonly port: number;
  readonly topic: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly count: number;
  readonly settle: readonly string[];
}

const task = JSON.parse(process.argv[2] ?? "") as ConsumerTask;
const never = new AbortController().signal;
const source = session({ port: task.port, window: task.count, options: task.options });
const puller = new Puller(receiver(source, [task.topic]), never);
await connected(source, never);
process.send?.("subscribed");
const deliveries = await puller.take(task.count);
const settle = new Set(task.settle);
for (const delivery of deliveries) if (settle.has(text(delivery))) await accept(delivery);
// Acknowledgements leave at the end of a turn of the event loop; what the system has taken outlives the process.
for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
process.send?.(deliveries.map(text));
