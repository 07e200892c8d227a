import { PATIENCE } from "@bridge/tooling/patience";
import { describe, expect, test, vi } from "vitest";
import type { NatsReceiver } from "../src/nats-receiver.ts";
import { containing, like } from "./support/like.ts";
import { accept, connected, type LogLine, never, Puller, receiver, session, text } from "./support/parts.ts";
import { program } from "./support/program.ts";
import { noServer } from "./support/server.ts";
import { standIn } from "./support/stand-in.ts";

const SECOND = 1e9;
const LOST = { code: "CONNECTION_LOST" };

describe.skipIf(noServer)("a consumer (needs NATS)", () => {
  test("is made when it is not there, and its times follow the options", async () => {
    await using server = await program();
    const stream = await server.stream();
    const options = { stream, consumer: "made", create: true, filter_subject: `${stream}.*`, deliver: "new" };
    await server.publish(`${stream}.a`, "before");
    const config = async () => (await server.manager.consumers.info(stream, "made")).config;
    {
      await using source = session();
      const puller = new Puller(receiver(source, { ...options, ack_wait: "7s" }, { window: 3 }));
      await connected(source);
      expect(await config()).toMatchObject({
        durable_name: "made",
        ack_policy: "explicit",
        deliver_policy: "new",
        filter_subject: `${stream}.*`,
        ack_wait: 7 * SECOND,
        max_ack_pending: 3,
      });
      await server.publish(`${stream}.a.b`, "elsewhere");
      await server.publish(`${stream}.a`, "after");
      const delivery = await puller.next();
      expect(text(delivery)).toBe("after");
      await accept(delivery);
    }
    await using source = session();
    receiver(source, { ...options, max_ack_pending: 9 });
    await connected(source);
    expect(await config()).toMatchObject({ ack_wait: 30 * SECOND, max_ack_pending: 9 });
  });

  test("that is made and begins with what is new tells what may be skipped", async () => {
    await using server = await program();
    const stream = await server.stream();
    const log: LogLine[] = [];
    await using source = session({ log });
    receiver(source, { stream, consumer: "made", create: true, deliver: "new" });
    await connected(source);
    const message = like(/^a consumer was made that begins with what is new: /);
    expect(log).toEqual([{ message, fields: { receiver_id: "in", stream, consumer: "made" } }]);
  });

  test.each(["new", "all"] as const)(
    "that was deleted is made again behind what was settled, not as a first one is (deliver: %s)",
    async (deliver) => {
      await using server = await program();
      const stream = await server.stream();
      await server.publish(`${stream}.a`, "before");
      const log: LogLine[] = [];
      await using source = session({ log, options: { ping_interval: "500ms" } });
      const from = receiver(source, { stream, consumer: "c", create: true, deliver });
      const puller = new Puller(from);
      const first = await connected(source);
      if (deliver === "all") await accept(await puller.next());
      for (const payload of ["a", "b", "c"]) await server.publish(`${stream}.a`, payload);
      const [a] = await puller.take(3);
      await accept(a!);
      const told = vi.spyOn((from as NatsReceiver).position!, "told");
      const settled = containing({ ack_floor: containing({ stream_seq: 2 }) });
      await vi.waitFor(() => expect(told).toHaveBeenCalledWith(settled), PATIENCE);
      await server.manager.consumers.delete(stream, "c");
      await first.closed;
      await server.publish(`${stream}.a`, "d");
      await connected(source);
      expect((await puller.take(3)).map(text)).toEqual(["b", "c", "d"]);
      const message =
        "the consumer was deleted and is made again behind what the server had seen settled: messages settled since then come again";
      expect(log).toContainEqual({ message, fields: containing({ stream, consumer: "c", from: 3 }) });
    },
  );

  test("of a stream that was deleted and made again begins with its first message", async () => {
    await using server = await program();
    const name = await server.stream();
    await using source = session();
    const puller = new Puller(receiver(source, { stream: name, consumer: "c", create: true, deliver: "new" }));
    const first = await connected(source);
    await server.manager.streams.delete(name);
    await first.closed;
    await server.stream({ name });
    for (const payload of ["a", "b"]) await server.publish(`${name}.a`, payload);
    await connected(source);
    expect((await puller.take(2)).map(text)).toEqual(["a", "b"]);
  });

  test.each([
    [
      "filter_subject",
      (stream: string) => `${stream}.other`,
      { create: true },
      /takes the subjects ".*other".*filter_subject/,
    ],
    ["ack_policy", () => "all", {}, /the ack policy "all": the bridge needs "explicit"/],
    ["deliver_subject", () => "pushed", {}, /pushes its messages/],
  ] as const)("that is there with another %s is refused", async (key, valueFor, options, problem) => {
    await using server = await program();
    const stream = await server.stream();
    await server.consumer(stream, { [key]: valueFor(stream) });
    const log: LogLine[] = [];
    await using source = session({ log });
    receiver(source, { stream, consumer: "c", ...options });
    const connection = await source.connect(never);
    expect([...(await connection.reconcile(never))]).toEqual([]);
    const fields = containing({ code: "REJECTED", error: like(problem) });
    expect(log).toEqual([{ message: "a stream cannot be consumed", fields }]);
  });

  test("that is there with several filters, as servers from 2.10 on have them, is refused", async () => {
    const config = { ack_policy: "explicit", filter_subjects: ["S.a", "S.b"] };
    const info = JSON.stringify({ name: "c", stream_name: "S", config });
    await using server = await standIn("$JS.API.CONSUMER.INFO.S.c", (question) => void question.respond(info));
    const log: LogLine[] = [];
    await using source = session({ port: server.port, log });
    receiver(source, { stream: "S", consumer: "c", create: true });
    await connected(source);
    expect(log.map(({ fields }) => fields)).toEqual([
      containing({ code: "REJECTED", error: like(/takes the subjects "S.a", "S.b"/) }),
    ]);
  });

  test("that gives messages up before the bridge does is warned of", async () => {
    await using server = await program();
    const stream = await server.stream();
    const log: LogLine[] = [];
    await using source = session({ log });
    receiver(source, { stream, consumer: await server.consumer(stream, { max_deliver: 5 }) }, { log });
    await connected(source);
    expect(log).toEqual([
      { message: like(/max_deliver/), fields: containing({ max_deliver: 5, max_replay_attempts: 5 }) },
    ]);
  });

  test("that is deleted under way ends the connection, and is asked for until it is there again", async () => {
    await using server = await program();
    const stream = await server.stream();
    const consumer = await server.consumer(stream);
    await server.publish(`${stream}.a`, "a");
    const log: LogLine[] = [];
    await using source = session({ log });
    const puller = new Puller(receiver(source, { stream, consumer }));
    const first = await connected(source);
    const held = await puller.next();
    await server.manager.consumers.delete(stream, consumer);
    expect(await first.closed).toMatchObject({
      ...LOST,
      message: like(`consumer ${consumer} of stream ${stream} is gone`),
    });
    expect(held.signal?.aborted).toBe(true);
    await expect(accept(held)).rejects.toMatchObject(LOST);
    const second = await source.connect(never);
    for (let i = 0; i < 2; i++) expect([...(await second.reconcile(never))]).toEqual([]);
    expect(log).toHaveLength(1);
    await server.consumer(stream);
    expect([...(await second.reconcile(never))]).toEqual(["in"]);
    expect(text(await puller.next())).toBe("a");
  });

  test("that is deleted while the window is full, and nobody tells of it, is missed within three heartbeats of the next pull", async () => {
    await using server = await program();
    const stream = await server.stream();
    const consumer = await server.consumer(stream);
    for (const payload of ["a", "b"]) await server.publish(`${stream}.a`, payload);
    await using source = session({ options: { ping_interval: "500ms" } });
    const puller = new Puller(receiver(source, { stream, consumer }, { window: 2 }));
    const connection = await connected(source);
    const held = await puller.take(2);
    await vi.waitFor(
      async () => expect(await server.manager.consumers.info(stream, consumer)).toMatchObject({ num_waiting: 0 }),
      PATIENCE,
    );
    await server.manager.consumers.delete(stream, consumer);
    await Promise.all(held.map(accept));
    expect(await connection.closed).toMatchObject({ ...LOST, message: like("is not there any more") });
  });

  test.each([true, false])(
    "whose stream is deleted under way comes back with the stream (create: %s)",
    async (create) => {
      await using server = await program();
      const name = await server.stream();
      const consumer = create ? "c" : await server.consumer(name);
      await using source = session();
      const puller = new Puller(receiver(source, { stream: name, consumer, create }));
      const first = await connected(source);
      await server.manager.streams.delete(name);
      expect(await first.closed).toMatchObject(LOST);
      const second = await source.connect(never);
      expect([...(await second.reconcile(never))]).toEqual([]);
      await server.stream({ name });
      if (!create) await server.consumer(name);
      expect([...(await second.reconcile(never))]).toEqual(["in"]);
      await server.publish(`${name}.a`, "a");
      expect(text(await puller.next())).toBe("a");
    },
  );
});
