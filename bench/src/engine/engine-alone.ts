/** The engine between a source on demand and a target that always accepts. @module */
import { answer, ready } from "../harness/answer.ts";
import { startBridge } from "../bridge/start-bridge.ts";
import { MicrotaskSender, TurnSender } from "./accepting-sender.ts";
import { engineJob } from "./engine-job.ts";
import { OnDemandReceiver } from "./on-demand-receiver.ts";
import { onDemandTransport } from "./on-demand-transport.ts";
import { sampleMessage } from "./sample-message.ts";
import { benchTracer } from "./bench-tracer.ts";

const { window, size, accept, tracing, traceparent } = engineJob();
const receiver = new OnDemandReceiver(sampleMessage(size, traceparent));
const sender = accept === "microtask" ? new MicrotaskSender() : new TurnSender();

const transports = [onDemandTransport(receiver, sender)];
await startBridge(
  { receiver: { transport: "on-demand" }, sender: { transport: "on-demand" }, address: "out", maxInFlight: window },
  transports,
  tracing && benchTracer(tracing),
);
answer("run", (messages: number) => receiver.run(messages));
ready();
