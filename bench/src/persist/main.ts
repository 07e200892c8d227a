/** What is persisted at an outbox on a file by so many callers, each of which waits for its own record. @module */
import type { OutboxRecord } from "@bridge/ports";
import { answer, ready } from "../harness/answer.ts";
import { loopDelayDuring } from "../harness/loop-delay.ts";
import { oneCallATurn } from "./one-call-a-turn.ts";
import { openOutbox } from "./open-outbox.ts";
import { outboxInWorker } from "./outbox-in-worker.ts";
import { persistJob } from "./persist-job.ts";

const { inFlight, size, path, thread } = persistJob();
const payload = new Uint8Array(size).fill(0x61);
let number = 0;

const persist = oneCallATurn(thread === "worker" ? outboxInWorker(path) : outboxHere());

function outboxHere(): (records: readonly OutboxRecord[]) => Promise<unknown> {
  const store = openOutbox(path);
  const { signal } = new AbortController();
  return (records) => store.persist(records, signal);
}

function nextRecord(): OutboxRecord {
  const id = `message-${++number}`;
  return {
    id: `record-${number}`,
    routeId: "route",
    bindingId: "to-out",
    address: "out",
    envelope: {
      id,
      sourceId: "in",
      subject: "plant/7/temperature",
      contentType: "application/octet-stream",
      headers: { device: "boiler-3", unit: "celsius" },
      payload,
      correlationId: id,
      receivedAt: Date.now(),
    },
    payloadDigest: "0".repeat(64),
    createdAt: Date.now(),
  };
}

answer("persist", (records: number) =>
  loopDelayDuring(async () => {
    const end = number + records;
    const caller = async (): Promise<void> => {
      while (number < end) await persist(nextRecord());
    };
    await Promise.all(Array.from({ length: inFlight }, caller));
  }),
);
ready();
