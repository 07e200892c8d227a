import { fork } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { noMosquitto } from "./support/brokers.ts";
import type { ConsumerTask } from "./support/consumer-process.ts";
import { mosquitto } from "./support/mosquitto.ts";
import { connected, freshTopic, Puller, receiver, session, text } from "./support/parts.ts";
import { program } from "./support/witness.ts";

const never = new AbortController().signal;
const IN_FLIGHT = 1_000;

/** Starts a consumer; resolves with the payloads that it has taken once it has settled what it was told to. */
async function consume(task: ConsumerTask, onSubscribed: () => Promise<void>) {
  const consumer = fork(new URL("support/consumer-process.ts", import.meta.url), [JSON.stringify(task)], {
    execArgv: ["--conditions=@bridge/source"],
  });
  expect(await once(consumer, "message")).toEqual(["subscribed", undefined]);
  await onSubscribed();
  const [taken] = (await once(consumer, "message")) as [readonly string[]];
  return {
    taken,
    async kill() {
      consumer.kill("SIGKILL");
      await once(consumer, "exit");
    },
  };
}

const payloads = Array.from({ length: IN_FLIGHT }, (_, i) => String(i));

describe.skipIf(noMosquitto)("a consuming process that is killed (needs Mosquitto)", () => {
  test.each([
    { protocol_version: 5, ack_order: "any", settle: payloads.filter((_, index) => index % 3 === 1) },
    { protocol_version: 5, ack_order: "connection", settle: payloads.slice(0, 400) },
    { protocol_version: 4, ack_order: "any", settle: payloads.filter((_, index) => index % 2 === 0) },
  ])(
    "gets back exactly what it had not settled of 1,000 messages in flight (version $protocol_version, order $ack_order)",
    async ({ protocol_version, ack_order, settle }) => {
      await using broker = await mosquitto({ config: [`max_inflight_messages ${IN_FLIGHT}`] });
      const { port } = broker;
      const topic = freshTopic();
      const options = { protocol_version, ack_order, client_id: topic };
      const client = await program(port);
      const consumer = await consume({ port, topic, options, count: IN_FLIGHT, settle }, async () => {
        await Promise.all(payloads.map((payload) => client.publishAsync(topic, payload, { qos: 1 })));
      });
      expect(consumer.taken.toSorted()).toEqual(payloads.toSorted());
      await consumer.kill();
      await client.publishAsync(topic, "meanwhile", { qos: 1 });
      await client.endAsync();

      await using source = session({ port, window: 2 * IN_FLIGHT, options });
      const puller = new Puller(receiver(source, [topic]), never);
      await connected(source, never);
      const settled = new Set(settle);
      const unsettled = payloads.filter((payload) => !settled.has(payload));
      const again = await puller.take(unsettled.length + 1);
      expect(again.map(text)).toEqual([...unsettled, "meanwhile"]);
    },
  );
});
