import { fork } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { noBroker } from "./support/broker.ts";
import type { ConsumerTask } from "./support/consumer-process.ts";
import { connected, Puller, receiver, session, text } from "./support/parts.ts";
import { program } from "./support/program.ts";

const IN_FLIGHT = 300;
const numbers = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from }, (_, i) => String(from + i));
const payloads = numbers(0, IN_FLIGHT);

describe.skipIf(noBroker)("a consuming process that is killed (needs RabbitMQ)", () => {
  test.each([
    { type: "quorum", settle: payloads.filter((_, index) => index % 3 === 1) },
    { type: "classic", settle: payloads.slice(0, 120) },
  ] as const)("gets back exactly what it had not settled, from a $type queue", async ({ type, settle }) => {
    await using broker = await program();
    const queue = await broker.queue(type);
    const all = numbers(0, IN_FLIGHT + settle.length);
    await Promise.all(all.map((payload) => broker.publish(queue, payload)));
    const task: ConsumerTask = { queue, type, count: IN_FLIGHT, settle };
    const consumer = fork(new URL("support/consumer-process.ts", import.meta.url), [JSON.stringify(task)], {
      execArgv: ["--conditions=@bridge/source"],
    });
    const [taken] = (await once(consumer, "message")) as [readonly string[]];
    expect(taken).toEqual(all);
    consumer.kill("SIGKILL");
    await once(consumer, "exit");
    await broker.publish(queue, "meanwhile");

    await using source = session();
    const puller = new Puller(receiver(source, { queue, queue_type: type }, { window: 2 * IN_FLIGHT }));
    await connected(source);
    const settled = new Set(settle);
    const unsettled = all.filter((payload) => !settled.has(payload));
    const again = await puller.take(unsettled.length + 1);
    expect(again.map(text).toSorted()).toEqual([...unsettled, "meanwhile"].toSorted());
    // The last one may have gone to the dead consumer too: the broker learns of its end in its own time.
    const counts = new Set(again.filter((delivery) => text(delivery) !== "meanwhile").map((one) => one.receiveCount));
    expect([...counts]).toEqual([type === "quorum" ? 2 : undefined]);
  });
});
