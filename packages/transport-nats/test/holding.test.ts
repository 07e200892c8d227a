import { setTimeout as sleep } from "node:timers/promises";
import { tcpProxy } from "@bridge/conformance";
import { type Clock, systemClock } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { accept, connected, Puller, receiver, session, text } from "./support/parts.ts";
import { program } from "./support/program.ts";
import { noServer, PORT } from "./support/server.ts";

const SECOND = 1e9;
/** What is given back does not wait for it. */
const HOUR = 3_600 * SECOND;
const LOST = { code: "CONNECTION_LOST" };
/** Of a process that is held up: nothing is said at regular times. */
const heldUp: Clock = { ...systemClock, every: () => ({ [Symbol.dispose]: () => {} }) };

describe.skipIf(noServer)("what is held (needs NATS)", () => {
  test("for longer than ack_wait is not handed out again, and is settled all the same", async () => {
    await using server = await program();
    const stream = await server.stream();
    const consumer = await server.consumer(stream, { ack_wait: 0.4 * SECOND });
    await server.publish(`${stream}.a`, "a");
    await using source = session();
    const puller = new Puller(receiver(source, { stream, consumer }));
    await connected(source);
    const delivery = await puller.next();
    const words = server.collect(`$JS.ACK.${stream}.${consumer}.>`);
    expect(new Set((await words(8)).map((word) => word.string()))).toEqual(new Set(["+WPI"]));
    expect(await server.manager.consumers.info(stream, consumer)).toMatchObject({ num_redelivered: 0 });
    await accept(delivery);
    await server.publish(`${stream}.a`, "b");
    expect(text(await puller.next())).toBe("b");
    const { num_ack_pending } = await server.manager.consumers.info(stream, consumer);
    expect(num_ack_pending).toBe(1);
  });

  test("is extended in time also where the server waits for less with each delivery", async () => {
    await using server = await program();
    const stream = await server.stream();
    const backoff = [0.4 * SECOND, 30 * SECOND];
    const consumer = await server.consumer(stream, { backoff, max_deliver: 10 });
    await server.publish(`${stream}.a`, "a");
    await using source = session();
    const puller = new Puller(receiver(source, { stream, consumer }));
    await connected(source);
    await puller.next();
    await server.collect(`$JS.ACK.${stream}.${consumer}.>`)(4);
    expect(await server.manager.consumers.info(stream, consumer)).toMatchObject({ num_redelivered: 0 });
  });

  test("and comes again because we were held up is held on, not handed out twice, and settled once", async () => {
    await using server = await program();
    const stream = await server.stream();
    const consumer = await server.consumer(stream, { ack_wait: 0.2 * SECOND });
    await server.publish(`${stream}.a`, "a");
    await using source = session({ clock: heldUp });
    const puller = new Puller(receiver(source, { stream, consumer }));
    await connected(source);
    const delivery = await puller.next();
    while (source.counters?.()["copies"] !== 2) await sleep(10);
    await server.publish(`${stream}.a`, "b");
    expect(text(await puller.next())).toBe("b");
    const words = server.collect(`$JS.ACK.${stream}.${consumer}.>`);
    await server.connection.flush();
    await accept(delivery);
    const [word] = await words(1);
    // About its latest delivery, the third.
    expect(word?.subject).toContain(`.${consumer}.3.1.`);
    expect(source.counters?.()["unacknowledged"]).toBe(1);
  });

  test("is given back at a stop at once, what waits in the receiver too, and counted", async () => {
    await using server = await program();
    const stream = await server.stream();
    const consumer = await server.consumer(stream, { ack_wait: HOUR });
    for (const payload of ["a", "b", "c", "d"]) await server.publish(`${stream}.a`, payload);
    {
      await using source = session();
      const puller = new Puller(receiver(source, { stream, consumer }));
      const connection = await connected(source);
      const [a, b] = await puller.take(2);
      while (source.counters?.()["unacknowledged"] !== 4) await sleep(1);
      const told = accept(a!);
      await connection[Symbol.asyncDispose]();
      await told;
      expect(b!.signal?.aborted).toBe(true);
      await expect(accept(b!)).rejects.toMatchObject(LOST);
    }
    await using source = session();
    const puller = new Puller(receiver(source, { stream, consumer }));
    await connected(source);
    const again = await puller.take(3);
    expect(again.map(text).toSorted()).toEqual(["b", "c", "d"]);
    expect(again.map(({ receiveCount }) => receiveCount)).toEqual([2, 2, 2]);
  });

  test.each(["stop", "cut"] as const)("no message goes to a pull that was open when we left (%s)", async (how) => {
    await using server = await program();
    const stream = await server.stream();
    const consumer = await server.consumer(stream, { ack_wait: HOUR });
    const waiting = async () => (await server.manager.consumers.info(stream, consumer)).num_waiting;
    await using link = await tcpProxy({ target: { port: PORT } });
    {
      await using source = session({ port: link.port });
      receiver(source, { stream, consumer });
      const connection = await connected(source);
      while ((await waiting()) === 0) await sleep(5);
      if (how === "cut") link.cut();
      await connection[Symbol.asyncDispose]();
      // A server knows of a lost connection when it has read its end.
      while ((await waiting()) > 0) await sleep(5);
      await server.publish(`${stream}.a`, "a");
    }
    await using source = session();
    const puller = new Puller(receiver(source, { stream, consumer }));
    await connected(source);
    const delivery = await puller.next();
    expect([text(delivery), delivery.receiveCount]).toEqual(["a", 1]);
  });

  test("what comes while we take our leave goes back at once", async () => {
    await using server = await program();
    const stream = await server.stream();
    const consumer = await server.consumer(stream, { ack_wait: HOUR });
    await using link = await tcpProxy({ target: { port: PORT } });
    {
      await using source = session({ port: link.port });
      receiver(source, { stream, consumer });
      const connection = await connected(source);
      while ((await server.manager.consumers.info(stream, consumer)).num_waiting === 0) await sleep(5);
      // On its way to us when we say that we listen no more.
      link.delay(200);
      await server.publish(`${stream}.a`, "a");
      await connection[Symbol.asyncDispose]();
    }
    await using source = session();
    const puller = new Puller(receiver(source, { stream, consumer }));
    await connected(source);
    const delivery = await puller.next();
    // Long before ack_wait is over, after which it would have come anyway.
    expect([text(delivery), delivery.receiveCount]).toEqual(["a", 2]);
  });
});
