import { expect, test } from "vitest";
import { accept, connected, Puller, receiver, session, until } from "./support/parts.ts";
import { message, scriptedBroker } from "./support/scripted-broker.ts";

const never = new AbortController().signal;

test("what is settled after a connection was closed is refused, and disturbs nothing", async () => {
  await using broker = await scriptedBroker();
  await using source = session({ port: broker.port });
  const puller = new Puller(receiver(source, ["t"]), never);
  const connection = await connected(source, never);
  for (const messageId of [1, 2, 3]) broker.client.send(message("t", messageId));
  const [first, second] = await puller.take(2);
  await accept(first!);
  const closing = connection[Symbol.asyncDispose]();
  expect(second!.signal?.aborted).toBe(true);
  await expect(accept(second!)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  await closing;
  await expect(connection.closed).resolves.toBeUndefined();
  const last = broker.received.filter(({ cmd }) => cmd === "puback" || cmd === "disconnect");
  expect(last.map(({ cmd, messageId }) => [cmd, messageId])).toEqual([
    ["puback", 1],
    ["disconnect", undefined],
  ]);
});

test("acknowledgements leave in the order of receipt, whatever the order of settling, and each of them once", async () => {
  await using broker = await scriptedBroker();
  await using source = session({ port: broker.port });
  const puller = new Puller(receiver(source, ["t"]), never);
  await connected(source, never);
  const packetIds = [7, 3, 65_535, 1, 256];
  for (const messageId of packetIds) broker.client.send(message("t", messageId));
  const deliveries = await puller.take(packetIds.length);
  await Promise.all(deliveries.toReversed().flatMap((delivery) => [accept(delivery), accept(delivery)]));
  const acknowledged = (): readonly unknown[] =>
    broker.received.filter(({ cmd }) => cmd === "puback").map(({ messageId }) => messageId);
  await until(() => acknowledged().length >= packetIds.length);
  await source[Symbol.asyncDispose]();
  expect(acknowledged()).toEqual(packetIds);
});
