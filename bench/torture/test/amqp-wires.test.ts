import { env } from "node:process";
import { listening } from "@bridge/tooling/listening";
import { type ChannelModel, type ConfirmChannel, connect, type ConsumeMessage } from "amqplib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { amqpSourceListener } from "../src/auditor/amqp-listeners.ts";
import type { Entry } from "../src/auditor/entry.ts";
import { Ledger } from "../src/auditor/ledger.ts";
import { Tap } from "../src/auditor/tap.ts";
import { Wires } from "../src/auditor/wires.ts";
import { payloadOf } from "../src/message.ts";

const PORT = 5672;
const ROUTE = "amqp-amqp";
const noRabbitmq = env["BRIDGE_REQUIRE_BROKERS"] !== "1" && !(await listens());

/** What a true broker and a true client say to each other passes through a tap. */
describe.skipIf(noRabbitmq)("on AMQP, as RabbitMQ speaks it", () => {
  let ledger: Ledger;
  let wires: Wires;
  let tap: Tap;
  let client: ChannelModel;
  let channel: ConfirmChannel;
  let queue: string;

  const open = async (role: "source" | "target"): Promise<void> => {
    tap = await (role === "source" ? wires.tapSource("amqp", PORT) : wires.tapTarget("amqp", PORT));
    client = await connect({ hostname: "127.0.0.1", port: tap.port });
    client.on("error", () => {});
    channel = await client.createConfirmChannel();
    ({ queue } = await channel.assertQueue("", { exclusive: true }));
  };
  const message = (): string => ledger.open(ROUTE).id;
  const publish = (id: string, to = queue): void =>
    void channel.publish("", to, payloadOf(id), { mandatory: true, headers: { lane: "0" } });
  const entry = (id: string): Entry => ledger.find(id)!;

  beforeEach(() => {
    ledger = new Ledger([ROUTE], Date.now());
    wires = new Wires(ledger, "direct_hold");
  });
  afterEach(async () => {
    await client.close().catch(() => {});
    await tap[Symbol.asyncDispose]();
  });

  it("sees what was sent, and what the broker confirmed or returned", async () => {
    await open("target");
    const ids = Array.from({ length: 20 }, message);
    for (const [index, id] of ids.entries()) publish(id, index % 5 === 0 ? "nowhere" : queue);
    await channel.waitForConfirms();
    expect(ids.map((id) => entry(id).sends)).toEqual(ids.map(() => 1));
    expect(ids.map((id) => entry(id).doubtful)).toEqual(ids.map((_, index) => (index % 5 === 0 ? 1 : 0)));
  });

  it("sees that a channel ended without a word about what was sent on it, and that another begins", async () => {
    await open("target");
    const [lost, next] = [message(), message()];
    channel.on("error", () => {});
    channel.publish("no-such-exchange", "", payloadOf(lost));
    await new Promise((resolve) => void channel.once("close", resolve));
    channel = await client.createConfirmChannel();
    publish(next);
    await channel.waitForConfirms();
    expect([entry(lost).doubtful, entry(next).doubtful]).toEqual([1, 0]);
    await client.close();
    await expect.poll(() => wires.interruptions).toMatchObject({ connections: 1, unconfirmed: 0, unread: 1 });
  });

  it("sees what was handed over, and what of it was settled, in whatever way", async () => {
    await open("source");
    const ids = Array.from({ length: 8 }, message);
    const taken: ConsumeMessage[] = [];
    await channel.consume(queue, (one) => void (one && taken.push(one)));
    for (const id of ids) publish(id);
    await expect.poll(() => taken.length).toBe(8);
    channel.ack(taken[2]!);
    channel.ack(taken[1]!, true);
    channel.nack(taken[3]!, false, false);
    channel.reject(taken[4]!, false);
    channel.nack(taken[5]!, false, true);
    channel.reject(taken[6]!, true);
    await expect.poll(() => taken.length).toBe(10);
    expect(ids.map((id) => entry(id).settled)).toEqual([1, 1, 1, 1, 1, 0, 0, 0]);
    expect(ids.map((id) => entry(id).handed)).toEqual([1, 1, 1, 1, 1, 2, 2, 1]);
  });

  it("reads what comes in pieces of any size", async () => {
    const id = message();
    const parts: Buffer[] = [];
    const listener = amqpSourceListener(ledger);
    tap = await Tap.open({
      port: PORT,
      listener: () => ({ ...listener, fromServer: (bytes) => parts.push(Buffer.from(bytes)) }),
    });
    client = await connect({ hostname: "127.0.0.1", port: tap.port });
    channel = await client.createConfirmChannel();
    ({ queue } = await channel.assertQueue("", { exclusive: true }));
    const arrived = new Promise<ConsumeMessage | null>((resolve) => void channel.consume(queue, resolve));
    publish(id);
    await arrived;
    for (const byte of Buffer.concat(parts)) listener.fromServer(Buffer.of(byte));
    expect(entry(id).handed).toBe(1);
  });
});

async function listens(): Promise<boolean> {
  return listening(PORT, 1_000).then(
    () => true,
    () => false,
  );
}
