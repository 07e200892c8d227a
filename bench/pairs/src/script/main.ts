/**
 * A bridge as one would write it by hand, composed of two halves: what comes in is handed on, and acknowledged when the
 * target has confirmed it. No retries, no dead letters, no counters. @module
 */
import { ready } from "../../../src/harness/answer.ts";
import { pairJob } from "../job.ts";
import type { Kind } from "../pair.ts";
import type { OpenSource, OpenTarget } from "./forward.ts";

const { from, to, window } = pairJob();

const forward = await (await target(to.kind))(to, window);
await (
  await source(from.kind)
)(from, window, forward);
ready();

/** Only what is used is loaded, as in a script for one pair. */
async function source(kind: Kind): Promise<OpenSource> {
  switch (kind) {
    case "mqtt":
      return (await import("./mqtt.ts")).mqttSource;
    case "amqp":
      return (await import("./amqp.ts")).amqpSource;
    case "nats":
      return (await import("./nats.ts")).natsSource;
    case "http":
      return (await import("./http.ts")).httpSource;
  }
}

async function target(kind: Kind): Promise<OpenTarget> {
  switch (kind) {
    case "mqtt":
      return (await import("./mqtt.ts")).mqttTarget;
    case "amqp":
      return (await import("./amqp.ts")).amqpTarget;
    case "nats":
      return (await import("./nats.ts")).natsTarget;
    case "http":
      return (await import("./http.ts")).httpTarget;
  }
}
