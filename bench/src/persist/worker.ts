/** The outbox on a file, in a thread of its own. @module */
import { parentPort, workerData } from "node:worker_threads";
import type { OutboxRecord } from "@bridge/ports";
import { openOutbox } from "./open-outbox.ts";

const store = openOutbox(workerData as string);
const { signal } = new AbortController();

async function persist(records: readonly OutboxRecord[]): Promise<void> {
  const results = await store.persist(records, signal);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
  parentPort?.postMessage(results);
}

parentPort?.on("message", (records: readonly OutboxRecord[]) => void persist(records));
