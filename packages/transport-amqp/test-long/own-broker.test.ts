/**
 * What a RabbitMQ does that is short of memory, is frozen, restarts or loses patience: with a node of the test's own. The
 * same in short, with words put into a broker's mouth, is in `test`. @module
 */
import { systemClock } from "@bridge/ports";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { impatientClock } from "../test/support/impatient-clock.ts";
import { like } from "../test/support/like.ts";
import {
  accept,
  connected,
  envelope,
  type LogLine,
  never,
  Puller,
  receiver,
  sender,
  session,
  text,
} from "../test/support/parts.ts";
import { program } from "../test/support/program.ts";
import { OwnBroker } from "./support/own-broker.ts";

const MAX_SIZE = 65_536;
const HEARTBEAT = { heartbeat: "1s" };
/** Three heartbeats, and what a busy machine adds. */
const SILENCE_MS = 15_000;

let own: OwnBroker;
let port: number;
beforeAll(async () => {
  const settings = [
    `max_message_size = ${MAX_SIZE}`,
    "consumer_timeout = 1000",
    "vm_memory_high_watermark.relative = 0.9",
  ];
  // How often it looks whom it has waited for too long.
  own = await OwnBroker.start(settings, { channel_tick_interval: "500" });
  ({ port } = own);
}, 130_000);
afterAll(async () => own[Symbol.asyncDispose]());

describe("a RabbitMQ of one's own", { timeout: 120_000 }, () => {
  test("is short of memory: it blocks who publishes, messages wait, are refused uncharged, and go on", async () => {
    await using broker = await program(port);
    const queue = await broker.queue();
    await broker.publish(queue, "before");
    const { clock, pass } = impatientClock();
    await using target = session({ port, role: "target", clock, options: HEARTBEAT });
    await using out = sender(target);
    const connection = await connected(target);
    await out.send(envelope(), queue, never);

    await own.control("set_vm_memory_high_watermark", "absolute", "1MB");
    // The broker blocks a connection when it publishes, and not before; this one is read when it goes on.
    const read = out.send(envelope(), queue, never);
    await expect.poll(() => target.counters?.()["blocked"], { timeout: 20_000 }).toBe(1);
    const waiting = out.send(envelope(), queue, never);
    expect(target.counters?.()).toMatchObject({ waiting: 1 });
    pass();
    await expect(waiting).rejects.toMatchObject({
      code: "UNAVAILABLE",
      charged: false,
      message: like("low on memory"),
    });
    await expect(out.send(envelope(), queue, never)).rejects.toMatchObject({ code: "UNAVAILABLE", charged: false });
    // Who receives is not blocked.
    await using source = session({ port });
    const puller = new Puller(receiver(source, { queue, queue_type: "classic" }));
    await connected(source);
    await accept(await puller.next());

    await own.control("set_vm_memory_high_watermark", "0.9");
    await read;
    await out.send(envelope(), queue, never);
    expect(target.counters?.()).toMatchObject({ blocked: 0, waiting: 0, unconfirmed: 0 });
    expect(await Promise.race([connection.closed, Promise.resolve("open")])).toBe("open");
  });

  test("is frozen: its silence ends the connections, what was sent is in doubt, and what was held comes again", async () => {
    await using broker = await program(port);
    const [from, to] = [await broker.queue("quorum"), await broker.queue()];
    await broker.publish(from, "a");
    await using source = session({ port, options: HEARTBEAT });
    await using target = session({ port, role: "target", options: HEARTBEAT });
    await using out = sender(target);
    const puller = new Puller(receiver(source, { queue: from }));
    const connections = [await connected(source), await connected(target)];
    await out.send(envelope(), to, never);
    const held = await puller.next();
    own.pause();
    try {
      const sent = out.send(envelope(), to, never);
      sent.catch(() => {});
      for (const connection of connections) {
        const late = systemClock.delay(SILENCE_MS, never).then(() => "not noticed");
        expect(await Promise.race([connection.closed, late])).toMatchObject({ message: like("silent") });
      }
      await expect(sent).rejects.toMatchObject({ code: "CONNECTION_LOST", charged: true });
      await expect(accept(held)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    } finally {
      own.resume();
    }
    await connected(source);
    const again = await puller.next();
    expect([text(again), again.receiveCount]).toEqual(["a", 2]);
    await accept(again);
  });

  test("loses patience (406): the channel's end ends the connection, and the message comes again, counted", async () => {
    await using broker = await program(port);
    const queue = await broker.queue("quorum");
    await broker.publish(queue, "a");
    await using source = session({ port });
    const puller = new Puller(receiver(source, { queue }));
    const connection = await connected(source);
    const held = await puller.next();
    expect(await connection.closed).toMatchObject({ message: like(/406.*acknowledgement on channel \d+ timed out/) });
    await expect(accept(held)).rejects.toThrow(queue);
    await connected(source);
    const again = await puller.next();
    expect(again.receiveCount).toBe(2);
    await accept(again);
  });

  test("takes no larger messages (406): only those fail, and the next one before it is sent", async () => {
    await using broker = await program(port);
    const queue = await broker.queue();
    await using target = session({ port, role: "target" });
    await using out = sender(target);
    const connection = await connected(target);
    await out.send(envelope(), queue, never);
    const large = envelope({ payload: Buffer.alloc(MAX_SIZE + 1) });
    const sent = await Promise.allSettled([large, envelope()].map(async (one) => out.send(one, queue, never)));
    const tooLarge = {
      code: "PAYLOAD_TOO_LARGE",
      message: like(`${MAX_SIZE + 1} bytes, the broker takes ${MAX_SIZE}`),
    };
    expect(sent[0]).toMatchObject({ reason: tooLarge });
    expect(sent[1]).toMatchObject({ reason: { code: "UNAVAILABLE", charged: false } });
    await expect(out.send(large, queue, never)).rejects.toMatchObject(tooLarge);
    await out.send(envelope({ payload: Buffer.alloc(MAX_SIZE) }), queue, never);
    expect(await Promise.race([connection.closed, Promise.resolve("open")])).toBe("open");
  });

  test("restarts: connections end with its reason, are refused meanwhile, and nothing that it had is lost", async () => {
    // Its connection goes down with the broker.
    const leaving = await program(port);
    const queues = [await leaving.queue("quorum"), await leaving.queue("classic")];
    for (const queue of queues) await leaving.publish(queue, "by another");
    const log: LogLine[] = [];
    await using source = session({ port, log });
    await using target = session({ port, role: "target" });
    await using out = sender(target);
    const pullers = queues.map(
      (queue, index) =>
        new Puller(receiver(source, { queue, queue_type: index === 0 ? "quorum" : "classic" }, { id: queue })),
    );
    const connections = [await connected(source), await connected(target)];
    for (const queue of queues) await out.send(envelope(), queue, never);
    for (const puller of pullers) await puller.take(2);
    await own.stop();
    for (const connection of connections) expect(await connection.closed).toMatchObject({ code: "CONNECTION_LOST" });
    await expect(source.connect(never)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    await own.start();
    await using broker = await program(port);
    await connected(source);
    await connected(target);
    for (const puller of pullers) {
      const again = await puller.take(2);
      expect(again.map(text).toSorted()).toEqual(["by another", "payload"]);
      await Promise.all(again.map(accept));
    }
    for (const queue of queues) {
      await out.send(envelope(), queue, never);
      await broker.channel.deleteQueue(queue);
    }
    expect(log).toEqual([]);
  });
});
