/** A source on demand, and a handler that does nothing, or the memory sender in its place. @module */
import { functionTransport, type Handler, handler } from "@bridge/transport-function";
import { memoryHub, memory } from "@bridge/transport-memory";
import { startBridge } from "../bridge/start-bridge.ts";
import { MicrotaskSender } from "../engine/accepting-sender.ts";
import { OnDemandReceiver } from "../engine/on-demand-receiver.ts";
import { onDemandTransport } from "../engine/on-demand-transport.ts";
import { sampleMessage } from "../engine/sample-message.ts";
import { answer, ready } from "../harness/answer.ts";
import { type FunctionJob, jobGiven } from "./function-job.ts";

const { target, window, size } = jobGiven() as FunctionJob;
const receiver = new OnDemandReceiver(sampleMessage(size));
let handled = 0;
const HANDLERS = {
  handler: handler((message) => {
    if (message.id !== "") handled++;
  }),
  "handler with a signal": handler(async (message, { signal }) => {
    if (message.id !== "" && !signal.aborted) handled++;
  }),
} as const satisfies Readonly<Record<string, Handler>>;

await startBridge(
  {
    receiver: { transport: "on-demand" },
    sender:
      target === "memory"
        ? { transport: "memory", options: { channel: "out", discard: true } }
        : { transport: "function", options: { handler: target } },
    address: "",
    maxInFlight: window,
  },
  [onDemandTransport(receiver, new MicrotaskSender()), memory(memoryHub()), functionTransport({ handlers: HANDLERS })],
);

answer("run", async (messages: number) => {
  const before = handled;
  await receiver.run(messages);
  if (target !== "memory" && handled - before !== messages)
    throw new Error(`${messages} messages, ${handled - before} handled`);
});
ready();
