/** The engine between two channels of the memory transport. @module */
import { setImmediate as turn } from "node:timers/promises";
import { memoryHub, memory } from "@bridge/transport-memory";
import { answer, ready } from "../harness/answer.ts";
import { startBridge } from "../bridge/start-bridge.ts";
import { engineJob } from "./engine-job.ts";
import { sampleMessage } from "./sample-message.ts";

/** So many messages wait at most: enough to keep the bridge busy for a turn. */
const BACKLOG = 512;

const { window, size } = engineJob();
const hub = memoryHub({ history: 0 });
const [from, to] = [hub.channel("in"), hub.channel("out")];
const message = sampleMessage(size);

await startBridge(
  {
    receiver: { transport: "memory", options: { channel: "in" } },
    sender: { transport: "memory", options: { discard: true } },
    address: "out",
    maxInFlight: window,
  },
  [memory(hub)],
);

answer("run", async (messages: number) => {
  const end = from.accepted + messages;
  while (from.accepted < end) {
    const room = Math.min(BACKLOG + from.accepted, end) - from.arrived;
    for (let left = room; left > 0; left--) from.publish(message);
    await turn();
  }
  if (to.arrived !== from.accepted) throw new Error(`${from.accepted} messages accepted, ${to.arrived} arrived`);
});
ready();
