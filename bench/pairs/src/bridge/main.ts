/** The bridge between two ends, on the public interfaces of the packages. @module */
import type { TransportMaker } from "@bridge/ports";
import { startBridge } from "../../../src/bridge/start-bridge.ts";
import { ready } from "../../../src/harness/answer.ts";
import { pairJob } from "../job.ts";
import type { Kind } from "../pair.ts";
import { receiverOf, senderOf, sessionOf } from "./ends.ts";

const { from, to, window, outbox } = pairJob();

const kinds = [...new Set([from.kind, to.kind])];
await startBridge(
  {
    sessions: [sessionOf("source", from), sessionOf("target", to)].flat(),
    receiver: receiverOf("source", from),
    sender: senderOf("target", to, window),
    address: to.name,
    maxInFlight: window,
    outbox,
  },
  await Promise.all(kinds.map(transport)),
);
ready();

/** Only what is used is loaded, as for a script. */
async function transport(kind: Kind): Promise<TransportMaker> {
  switch (kind) {
    case "mqtt":
      return (await import("@bridge/transport-mqtt")).mqtt;
    case "amqp":
      return (await import("@bridge/transport-amqp")).amqp;
    case "nats":
      return (await import("@bridge/transport-nats")).nats;
    case "http":
      return (await import("@bridge/transport-http")).http;
  }
}
