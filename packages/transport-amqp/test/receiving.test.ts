import { PATIENCE } from "@bridge/tooling/patience";
import { describe, expect, test, vi } from "vitest";
import { noBroker } from "./support/broker.ts";
import { containing, like } from "./support/like.ts";
import { meddlingProxy, SAY } from "./support/meddling-proxy.ts";
import { accept, connected, type LogLine, never, Puller, receiver, session, text } from "./support/parts.ts";
import { program } from "./support/program.ts";

describe.skipIf(noBroker)("a receiver (needs RabbitMQ)", () => {
  test("spec 1.3: takes the receive count from a quorum queue, and not from a header that came along", async () => {
    await using broker = await program();
    const queue = await broker.queue("quorum");
    await broker.publish(queue, "a", { headers: { "x-delivery-count": 7 } });
    await using source = session();
    const puller = new Puller(receiver(source, { queue, retry: "requeue" }));
    await connected(source);
    for (const count of [1, 2, 3]) {
      const delivery = await puller.next();
      expect(delivery.receiveCount).toBe(count);
      expect(delivery.message.headers?.["amqp.redelivered"]).toBe(count === 1 ? undefined : "true");
      expect(delivery.message.headers).not.toHaveProperty("x-delivery-count");
      await delivery.settle({ kind: "release", delayMs: 0 });
    }
  });

  test("does not count for a classic queue, and says so when it is taken for a quorum queue", async () => {
    await using broker = await program();
    const queue = await broker.queue("classic");
    await broker.publish(queue, "a");
    const log: LogLine[] = [];
    await using source = session();
    const puller = new Puller(receiver(source, { queue, retry: "requeue" }, { log }));
    await connected(source);
    await (await puller.next()).settle({ kind: "release", delayMs: 0 });
    expect((await puller.next()).receiveCount).toBeUndefined();
    expect(log).toEqual([containing({ fields: { receiver_id: "in", queue } })]);
  });

  test("is handed at most its window before it acknowledges", async () => {
    await using broker = await program();
    const queue = await broker.queue();
    for (const content of ["a", "b", "c", "d", "e"]) await broker.publish(queue, content);
    await using source = session();
    const puller = new Puller(receiver(source, { queue, queue_type: "classic" }, { window: 2 }));
    await connected(source);
    const [first] = await puller.take(2);
    await vi.waitFor(async () => expect(await broker.ready(queue)).toBe(3), PATIENCE);
    await accept(first!);
    expect(text(await puller.next())).toBe("c");
    expect(await broker.ready(queue)).toBe(2);
  });

  test("acknowledges a message once, however often it is settled", async () => {
    await using broker = await program();
    const queue = await broker.queue();
    for (const content of ["a", "b"]) await broker.publish(queue, content);
    await using source = session();
    const puller = new Puller(receiver(source, { queue, queue_type: "classic" }));
    const connection = await connected(source);
    const [a, b] = await puller.take(2);
    await accept(a!);
    await accept(a!);
    await accept(b!);
    // A second acknowledgement would have cost the channel by the time that this comes.
    await broker.publish(queue, "c");
    await accept(await puller.next());
    expect(a!.signal?.aborted).toBe(false);
    await connection[Symbol.asyncDispose]();
    expect(await broker.ready(queue)).toBe(0);
  });

  test("what was accepted before the connection is closed on purpose does not come again", async () => {
    await using broker = await program();
    const queue = await broker.queue();
    for (const content of ["a", "b"]) await broker.publish(queue, content);
    await using source = session();
    const puller = new Puller(receiver(source, { queue, queue_type: "classic" }));
    const connection = await connected(source);
    const [a, b] = await puller.take(2);
    const told = accept(a!);
    await connection[Symbol.asyncDispose]();
    await told;
    await expect(accept(b!)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    const left = await broker.get(queue);
    expect(left && left.content.toString()).toBe("b");
    expect(await broker.get(queue)).toBe(false);
  });

  test("a deleted queue ends the connection; the next one asks for it until it is there", async () => {
    await using broker = await program();
    const gone = await broker.queue();
    const other = await broker.queue();
    const log: LogLine[] = [];
    await using source = session({ log });
    const goneReceiver = receiver(source, { queue: gone, queue_type: "classic" }, { id: "gone" });
    const otherPuller = new Puller(receiver(source, { queue: other, queue_type: "classic" }, { id: "other" }));
    const first = await connected(source);
    await broker.publish(other, "a");
    const held = await otherPuller.next();
    await broker.channel.deleteQueue(gone);
    expect(await first.closed).toMatchObject({ code: "CONNECTION_LOST", message: like(gone) });
    expect(held.signal?.aborted).toBe(true);

    const second = await source.connect(never);
    expect([...source.subscriptions]).toEqual(["gone", "other"]);
    for (let i = 0; i < 2; i++) expect([...(await second.reconcile(never))]).toEqual(["other"]);
    const error = like(/no queue '.*: make it, or set declare$/);
    const fields = containing({ queue: gone, code: "DESTINATION_NOT_FOUND", error });
    expect(log).toEqual([{ message: "a queue cannot be consumed", fields }]);
    expect(text(await otherPuller.next())).toBe("a");

    await broker.channel.assertQueue(gone, { durable: true });
    expect([...(await second.reconcile(never))].toSorted()).toEqual(["gone", "other"]);
    await broker.publish(gone, "b");
    expect(text(await new Puller(goneReceiver).next())).toBe("b");
  });

  test("a channel that the broker closes ends the connection, and its messages come again", async () => {
    await using broker = await program();
    const queue = await broker.queue();
    await broker.publish(queue, "a");
    await using proxy = await meddlingProxy();
    await using source = session({ port: proxy.port });
    const puller = new Puller(receiver(source, { queue, queue_type: "classic" }));
    const connection = await connected(source);
    const held = await puller.next();
    proxy.say(SAY.closeChannel(1, 406, "PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out"));
    expect(await connection.closed).toMatchObject({
      message: like(/406.*delivery acknowledgement on channel 1 timed out/),
    });
    await expect(accept(held)).rejects.toMatchObject({ message: like(queue) });
    await connected(source);
    const again = await puller.next();
    expect([text(again), again.message.headers?.["amqp.redelivered"]]).toEqual(["a", "true"]);
    await accept(again);
  });

  test("a connection that the broker closes says why", async () => {
    await using proxy = await meddlingProxy();
    await using source = session({ port: proxy.port });
    const connection = await source.connect(never);
    proxy.say(SAY.closeConnection(320, "CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'"));
    expect(await connection.closed).toMatchObject({
      code: "CONNECTION_LOST",
      message: like(/320.*reason 'shutdown'/),
    });
  });

  test("a broker that is frozen behind an open connection is found out by its heartbeat", async () => {
    await using proxy = await meddlingProxy();
    await using source = session({ port: proxy.port, options: { heartbeat: "1s" } });
    const connection = await source.connect(never);
    proxy.freeze();
    expect(await connection.closed).toMatchObject({
      code: "CONNECTION_LOST",
      message: like("silent"),
    });
  });

  test("of a queue that is declared anew as a stream is refused: it would skip what comes while nobody is connected", async () => {
    await using broker = await program();
    const queue = await broker.queue("classic");
    const log: LogLine[] = [];
    await using source = session({ log });
    const puller = new Puller(receiver(source, { queue }, { log }));
    const first = await connected(source);
    await broker.publish(queue, "a");
    await accept(await puller.next());
    await broker.channel.deleteQueue(queue);
    await first.closed;
    await broker.channel.assertQueue(queue, { durable: true, arguments: { "x-queue-type": "stream" } });
    const second = await source.connect(never);
    expect([...(await second.reconcile(never))]).toEqual([]);
    const error = `queue ${queue} cannot be consumed: it is a stream, of which what comes while the bridge is away would be skipped: bind a quorum queue to the same exchange and name that`;
    const fields = containing({ queue, code: "REJECTED", error });
    expect(log).toContainEqual({ message: "a queue cannot be consumed", fields });
  });

  test("makes its queue when it is told to, and says when the queue is another", async () => {
    await using broker = await program();
    const queue = await broker.queue("none");
    const log: LogLine[] = [];
    await using source = session({ log });
    receiver(source, { queue, declare: true });
    await connected(source);
    // The same once more: a quorum queue that is durable.
    await broker.channel.assertQueue(queue, { durable: true, arguments: { "x-queue-type": "quorum" } });
    await using another = session({ log });
    receiver(another, { queue, declare: true, queue_type: "classic" });
    const connection = await another.connect(never);
    expect([...(await connection.reconcile(never))]).toEqual([]);
    const fields = containing({ error: like(/406.*x-queue-type/) });
    expect(log).toEqual([{ message: "a queue cannot be consumed", fields }]);
  });
});
