import { startStrictSqs } from "@bridge/tooling/strict-sqs";
import { expect, test } from "vitest";
import { startBridge } from "../support/bridge.ts";
import { until } from "../support/parts.ts";

test("finding 6.1: a bridge of a quiet queue is ready again when SQS answers, before any message comes", async () => {
  await using sqs = await startStrictSqs();
  const url = sqs.createQueue("q");
  const receives = (): number => sqs.calls.filter(({ action }) => action === "ReceiveMessage").length;
  let refused = 0;
  sqs.fault = () => {
    if (receives() !== 2) return undefined;
    refused++;
    return { kind: "refuse", code: "ServiceUnavailable", status: 503 };
  };
  // By default a request waits for messages for twenty seconds; that is not how long the news may take.
  const bridge = await startBridge({ receiver: { queue_url: url, wait_time: "2s" }, target: async () => {} });
  const level = () => bridge.view().level;
  await until(() => refused > 0 && level() === "subscribed");
  await until(() => level() === "full");
  expect(bridge.stats().legs.every(({ received }) => received === 0)).toBe(true);
  await bridge.shutdown();
});
