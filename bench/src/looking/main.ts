/** A route at a steady rate, and an admin server at which others look on while it settles messages. @module */
import { setTimeout as sleep } from "node:timers/promises";
import { createAuditor } from "@bridge/audit";
import { createAdminApp } from "@bridge/http-admin";
import { listen } from "@bridge/http-kit";
import { silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { http } from "@bridge/transport-http";
import { startBridge } from "../bridge/start-bridge.ts";
import { TurnSender } from "../engine/accepting-sender.ts";
import { OnDemandReceiver } from "../engine/on-demand-receiver.ts";
import { onDemandTransport } from "../engine/on-demand-transport.ts";
import { sampleMessage } from "../engine/sample-message.ts";
import { answer, ready } from "../harness/answer.ts";
import { quantile } from "../harness/spread.ts";
import { KEY, type LookingJob, RATE, SIZE } from "./looking-job.ts";

const TICK_MS = 1;
const START_TIMEOUT_MS = 10_000;

const WINDOW = 100;

const { target } = JSON.parse(process.argv[2] ?? "") as LookingJob;
const receiver = new OnDemandReceiver(sampleMessage(SIZE));
const sender =
  target === undefined
    ? { transport: "on-demand" }
    : { transport: "http", options: { url: `http://127.0.0.1:${target}`, max_connections: WINDOW } };
const supervisor = await startBridge(
  { receiver: { transport: "on-demand" }, sender, address: "out", maxInFlight: WINDOW },
  [onDemandTransport(receiver, new TurnSender()), http],
);
const auditor = createAuditor({ sinks: [], clock: systemClock, logger: silentLogger });
const app = createAdminApp({ supervisor: () => supervisor, keys: { adminApiKey: KEY }, auditor });
const server = await listen(
  { addr: "127.0.0.1:0", app, logger: silentLogger, random: systemRandom() },
  AbortSignal.timeout(START_TIMEOUT_MS),
);

/** Carries at the rate for so long: each tick hands out what is due, and waits until all of that is settled. */
async function carry(ms: number): Promise<Readonly<Record<string, number>>> {
  const took: number[] = [];
  const begin = performance.now();
  let carried = 0;
  for (let at = begin; at - begin < ms; at = performance.now()) {
    const due = Math.floor(((at - begin) / 1_000) * RATE) - carried;
    if (due > 0) await receiver.run(due);
    carried += Math.max(0, due);
    took.push(performance.now() - at);
    await sleep(TICK_MS);
  }
  const sorted = Float64Array.from(took).toSorted();
  const elapsedMs = performance.now() - begin;
  return { perSecond: (carried / elapsedMs) * 1_000, p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) };
}

answer("url", () => server.url);
answer("carry", carry);
answer("flood", (messages: number) => receiver.run(messages));
ready();
