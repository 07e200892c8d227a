import { Worker } from "node:worker_threads";
import type { OutboxRecord } from "@bridge/ports";

const PROGRAM = new URL("worker.ts", import.meta.url);

/** An outbox on a file in a thread of its own; it answers calls in their order. */
export function outboxInWorker(path: string): (records: readonly OutboxRecord[]) => Promise<void> {
  const worker = new Worker(PROGRAM, { workerData: path });
  const waiting: (() => void)[] = [];
  worker.unref();
  worker.on("message", () => waiting.shift()?.());
  return (records) =>
    new Promise((resolve) => {
      waiting.push(resolve);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
      worker.postMessage(records);
    });
}
