import { PATIENCE } from "@bridge/tooling/patience";
import { describe, expect, test, vi } from "vitest";
import { containing, like } from "./support/like.ts";
import { accept, connected, type LogLine, never, Puller, receiver, session, text } from "./support/parts.ts";
import { program } from "./support/program.ts";
import { noServer } from "./support/server.ts";

const SECOND = 1e9;
const payloads = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => String(index));

describe.skipIf(noServer)("a receiver (needs NATS)", () => {
  test("spec 1.3: takes the receive count from the server", async () => {
    await using server = await program();
    const stream = await server.stream();
    await server.publish(`${stream}.a`, "a");
    await using source = session();
    const puller = new Puller(receiver(source, { stream, consumer: await server.consumer(stream) }));
    await connected(source);
    for (const count of [1, 2, 3]) {
      const delivery = await puller.next();
      expect(delivery.receiveCount).toBe(count);
      expect(delivery.message.headers?.["nats.redelivered"]).toBe(count === 1 ? undefined : "true");
      await delivery.settle({ kind: "release", delayMs: 0 });
    }
  });

  test("has at most its window, and pulls more when there is room", async () => {
    await using server = await program();
    const stream = await server.stream();
    const consumer = await server.consumer(stream, { max_ack_pending: 100 });
    for (const payload of payloads(9)) await server.publish(`${stream}.a`, payload);
    await using source = session();
    const puller = new Puller(receiver(source, { stream, consumer }, { window: 4 }));
    await connected(source);
    const held = await puller.take(4);
    const info = () => server.manager.consumers.info(stream, consumer);
    // Whatever is asked for now is asked for behind what the receiver has asked for.
    expect(await info()).toMatchObject({ num_ack_pending: 4, num_waiting: 0, num_pending: 5 });
    await accept(held[2]!);
    expect(text(await puller.next())).toBe("4");
    // A server reads acknowledgements beside what it is asked.
    await vi.waitFor(async () => expect(await info()).toMatchObject({ num_ack_pending: 4, num_pending: 4 }), PATIENCE);
    await Promise.all([held[0]!, held[1]!, held[3]!].map(accept));
    expect((await puller.take(3)).map(text)).toEqual(["5", "6", "7"]);
  });

  test("a message that is given up is terminated, without a reason on a server that knows none, and told of", async () => {
    await using server = await program();
    const stream = await server.stream();
    const consumer = await server.consumer(stream, { ack_wait: 0.5 * SECOND });
    const advisories = server.collect(`$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.${stream}.${consumer}`);
    await server.publish(`${stream}.a`, "a");
    await using source = session();
    const puller = new Puller(receiver(source, { stream, consumer }));
    await connected(source);
    const delivery = await puller.next();
    await delivery.settle({ kind: "accept", outcome: "dead_lettered", envelopeId: "x" });
    const [advisory] = await advisories(1);
    expect(advisory?.json()).toMatchObject({ consumer, stream_seq: 1 });
    const { num_ack_pending, num_pending } = await server.manager.consumers.info(stream, consumer);
    expect({ num_ack_pending, num_pending }).toEqual({ num_ack_pending: 0, num_pending: 0 });
  });

  test("settles a message once, however often it is told to", async () => {
    await using server = await program();
    const stream = await server.stream();
    const consumer = await server.consumer(stream);
    await server.publish(`${stream}.a`, "a");
    await using source = session();
    const puller = new Puller(receiver(source, { stream, consumer }));
    await connected(source);
    const delivery = await puller.next();
    const words = server.collect(`$JS.ACK.${stream}.${consumer}.>`);
    await server.connection.flush();
    await accept(delivery);
    await delivery.settle({ kind: "release", delayMs: 0 });
    await server.publish(`${stream}.a`, "b");
    await accept(await puller.next());
    expect((await words(2)).map((word) => word.string())).toEqual(["+ACK", "+ACK"]);
  });

  test("a consumer that is not there is asked for until it is, and said once", async () => {
    await using server = await program();
    const stream = await server.stream();
    const log: LogLine[] = [];
    await using source = session({ log });
    const puller = new Puller(receiver(source, { stream, consumer: "c" }));
    const connection = await source.connect(never);
    for (let i = 0; i < 2; i++) expect([...(await connection.reconcile(never))]).toEqual([]);
    expect(log).toEqual([
      {
        message: "a stream cannot be consumed",
        fields: containing({ receiver_id: "in", stream, code: "DESTINATION_NOT_FOUND", error: like("set create") }),
      },
    ]);
    await server.consumer(stream);
    expect([...(await connection.reconcile(never))]).toEqual(["in"]);
    await server.publish(`${stream}.a`, "a");
    await vi.waitFor(async () => expect(text(await puller.next())).toBe("a"), PATIENCE);
  });
});
