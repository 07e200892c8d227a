import { open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { JetStreamClient } from "@nats-io/jetstream";
import type { MqttClient } from "mqtt";
import { TARGET_EXCHANGE, TARGET_QUEUE, TARGET_STREAM, TARGET_TOPICS } from "../bridge/document.ts";
import { readPayload } from "../message.ts";
import { SPOILED } from "../target/job.ts";
import { keepConnected } from "./amqp-client.ts";
import type { Ledger } from "./ledger.ts";

const LOOK_EVERY_MS = 100;
const CHUNK_BYTES = 1_048_576;
const PREFETCH = 500;
/** Half of it without a sign of life, twice, and the stream is asked anew: sooner than anybody takes what is missing for lost. */
const NOTICE_MS = 2_000;

/**
 * Enters what arrives at the target's broker. The broker repeats to the auditor what was in flight between the two when it
 * was restarted; it says so, and that is no repeat of the bridge's.
 */
export async function watchMqtt(client: MqttClient, ledger: Ledger): Promise<void> {
  client.on("message", (_topic, payload, { dup }) => {
    const { id, intact } = readPayload(payload);
    if (!dup || !ledger.hasArrived(id)) ledger.arrived(id, intact);
  });
  await client.subscribeAsync(TARGET_TOPICS, { qos: 1 });
}

/** Makes the queue at the target, and enters what arrives in it. What RabbitMQ repeats to the auditor, it marks so too. */
export function watchAmqp(port: number, ledger: Ledger): Promise<void> {
  return keepConnected(port, async (channel) => {
    await channel.prefetch(PREFETCH);
    await channel.assertExchange(TARGET_EXCHANGE, "fanout", { durable: true });
    await channel.assertQueue(TARGET_QUEUE, { durable: true, arguments: { "x-queue-type": "quorum" } });
    await channel.bindQueue(TARGET_QUEUE, TARGET_EXCHANGE, "");
    await channel.consume(TARGET_QUEUE, (message) => {
      if (message === null) return;
      const { id, intact } = readPayload(message.content);
      if (!message.fields.redelivered || !ledger.hasArrived(id)) ledger.arrived(id, intact);
      channel.ack(message);
    });
  });
}

/**
 * Enters what arrives in the stream at the target, in the stream's order. A durable consumer would hand out what was
 * under way when the connection was cut after its `ack_wait` only, behind younger messages, and that would look like an
 * overtaking of the bridge's.
 */
export async function watchNats(client: JetStreamClient, ledger: Ledger, signal: AbortSignal): Promise<void> {
  let next = 1;
  const watch = async (): Promise<void> => {
    const consumer = await client.consumers.get(TARGET_STREAM.name, { opt_start_seq: next });
    for await (const message of await consumer.consume({ expires: NOTICE_MS })) {
      if (message.seq < next) continue;
      const { id, intact } = readPayload(message.data);
      ledger.arrived(id, intact);
      next = message.seq + 1;
    }
  };
  void (async () => {
    while (!signal.aborted) {
      // Ends with the server at most.
      await watch().catch(() => {});
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
    }
  })();
}

/** Enters what the HTTP target writes into its journal, until `signal` aborts. */
export async function watchJournal(path: string, ledger: Ledger, signal: AbortSignal): Promise<void> {
  await using file = await open(path, "a+");
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let [at, rest] = [0, ""];
  while (!signal.aborted) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, at);
    at += bytesRead;
    const lines = (rest + chunk.toString("latin1", 0, bytesRead)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const spoiled = line.startsWith(SPOILED);
      ledger.arrived(spoiled ? line.slice(SPOILED.length) : line, !spoiled);
    }
    if (bytesRead < CHUNK_BYTES) await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}
