/** A source on demand and a target that always accepts, and between them an outbox on a disk. @module */
import { setTimeout as sleep } from "node:timers/promises";
import { startBridge } from "../bridge/start-bridge.ts";
import { OnDemandReceiver } from "../engine/on-demand-receiver.ts";
import { onDemandTransport } from "../engine/on-demand-transport.ts";
import { sampleMessage } from "../engine/sample-message.ts";
import { answer, ready } from "../harness/answer.ts";
import { loopDelayDuring } from "../harness/loop-delay.ts";
import { CountingSender } from "./counting-sender.ts";
import type { Offer, OutboxJob } from "./outbox-job.ts";

const TICK_MS = 1;

const { window, size, outbox } = JSON.parse(process.argv[2] ?? "") as OutboxJob;
const source = new OnDemandReceiver(sampleMessage(size));
const target = new CountingSender();
let offered = 0;

await startBridge(
  {
    receiver: { transport: "on-demand" },
    sender: { transport: "on-demand" },
    address: "out",
    maxInFlight: window,
    outbox,
  },
  [onDemandTransport(source, target)],
);

/** Resolves when all are settled at the source and delivered to the target. */
async function through(messages: number, work: () => Promise<void>): Promise<void> {
  offered += messages;
  await Promise.all([work(), target.taken(offered)]);
  if (target.accepted !== offered) throw new Error(`${offered} messages offered, ${target.accepted} delivered`);
}

async function offer({ perSecond, seconds }: Offer): Promise<void> {
  const begin = performance.now();
  for (let sent = 0; sent < perSecond * seconds; await sleep(TICK_MS)) {
    const due = Math.min(perSecond * seconds, Math.ceil(((performance.now() - begin) * perSecond) / 1_000));
    source.offer(due - sent);
    sent = due;
  }
}

answer("run", (messages: number) => through(messages, () => source.run(messages)));
answer("offer", (rate: Offer) => loopDelayDuring(() => through(rate.perSecond * rate.seconds, () => offer(rate))));
ready();
