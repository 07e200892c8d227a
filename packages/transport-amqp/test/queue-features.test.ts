import { describe, expect, test } from "vitest";
import { noBroker } from "./support/broker.ts";
import { like } from "./support/like.ts";
import { accept, connected, Puller, receiver, session, text } from "./support/parts.ts";
import { program } from "./support/program.ts";

describe.skipIf(noBroker)("design 06 §5: a receiver (needs RabbitMQ)", () => {
  test("of a queue with a delivery limit: what goes back counts, beyond it the broker dead-letters, and the count begins anew", async () => {
    await using broker = await program();
    const dead = await broker.queue("quorum");
    const queue = await broker.queue("quorum", {
      arguments: { "x-delivery-limit": 2, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead },
    });
    await broker.publish(queue, "a", { messageId: "m1" });
    await using source = session();
    const puller = new Puller(receiver(source, { queue, retry: "requeue" }));
    const deadPuller = new Puller(receiver(source, { queue: dead, retry: "requeue" }, { id: "dead" }));
    await connected(source);
    for (const count of [1, 2, 3]) {
      const delivery = await puller.next();
      expect(delivery.receiveCount).toBe(count);
      await delivery.settle({ kind: "release", delayMs: 0 });
    }
    for (const count of [1, 2]) {
      const delivery = await deadPuller.next();
      expect(delivery.receiveCount).toBe(count);
      expect(delivery.message).toMatchObject({ id: "m1", subject: dead });
      expect(delivery.message.headers).toMatchObject({
        "x-first-death-reason": "delivery_limit",
        "x-first-death-queue": queue,
        "x-death": like(queue),
      });
      if (count === 1) await delivery.settle({ kind: "release", delayMs: 0 });
      else await accept(delivery);
    }
    expect(await broker.ready(queue)).toBe(0);
  });

  test("takes what comes by way of a queue with a time to live like any other message", async () => {
    await using broker = await program();
    const queue = await broker.queue("quorum");
    const delay = await broker.queue("classic", {
      messageTtl: 100,
      arguments: { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": queue },
    });
    await using source = session();
    const puller = new Puller(receiver(source, { queue }));
    const connection = await connected(source);
    await broker.publish(delay, "a", { messageId: "m1", headers: { "ordering-key": "k", "x-delivery-count": 7 } });
    const delivery = await puller.next();
    expect([text(delivery), delivery.receiveCount]).toEqual(["a", 1]);
    expect(delivery.message).toMatchObject({ id: "m1", subject: queue, orderingKey: "k" });
    expect(delivery.message.headers).toMatchObject({ "x-first-death-reason": "expired" });
    expect(delivery.message.expiresAt).toBeUndefined();
    await accept(delivery);
    await connection[Symbol.asyncDispose]();
    expect([await broker.ready(queue), await broker.ready(delay)]).toEqual([0, 0]);
  });

  test("that waits at a queue with a single active consumer goes on when the active one leaves", async () => {
    await using broker = await program();
    const queue = await broker.queue("quorum", { arguments: { "x-single-active-consumer": true } });
    await using active = session();
    await using waiting = session();
    const puller = new Puller(receiver(active, { queue }));
    const connection = await connected(active);
    const otherPuller = new Puller(receiver(waiting, { queue }));
    await connected(waiting);
    for (const content of ["a", "b"]) await broker.publish(queue, content);
    const [a, b] = await puller.take(2);
    expect([a, b].map((delivery) => text(delivery!))).toEqual(["a", "b"]);
    expect(waiting.counters?.()["unacknowledged"]).toBe(0);
    await accept(a!);
    await connection[Symbol.asyncDispose]();
    const again = await otherPuller.next();
    expect([text(again), again.receiveCount]).toEqual(["b", 2]);
    await accept(again);
    await broker.publish(queue, "c");
    expect(text(await otherPuller.next())).toBe("c");
  });
});
