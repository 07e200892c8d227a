import { open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { MqttClient } from "mqtt";
import { TARGET_TOPICS } from "../bridge/document.ts";
import { readPayload } from "../message.ts";
import { SPOILED } from "../target/job.ts";
import type { Ledger } from "./ledger.ts";

const LOOK_EVERY_MS = 100;
const CHUNK_BYTES = 1_048_576;

/**
 * Enters what arrives at the target's broker. The broker repeats to the auditor what was in flight between the two when it
 * was restarted; it says so, and that is no repeat of the bridge's.
 */
export async function watchBroker(client: MqttClient, ledger: Ledger): Promise<void> {
  client.on("message", (_topic, payload, { dup }) => {
    const { id, intact } = readPayload(payload);
    if (!dup || !ledger.hasArrived(id)) ledger.arrived(id, intact);
  });
  await client.subscribeAsync(TARGET_TOPICS, { qos: 1 });
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
