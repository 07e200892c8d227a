import { PATIENCE } from "@bridge/tooling/patience";
import { tcpProxy } from "@bridge/conformance";
import { describe, expect, test, vi } from "vitest";
import type { NatsReceiver } from "../src/nats-receiver.ts";
import { like } from "./support/like.ts";
import { accept, connected, type LogLine, Puller, receiver, session, text } from "./support/parts.ts";
import { type Program, program } from "./support/program.ts";
import { noServer, PORT } from "./support/server.ts";

const LOST = { code: "CONNECTION_LOST" };

async function nameOn(server: Program, stream: string): Promise<string> {
  const [{ name } = { name: "" }] = await server.manager.consumers.list(stream).next();
  return name;
}

describe.skipIf(noServer)("an ephemeral consumer (needs NATS)", () => {
  test("is the bridge's own, and is gone when the bridge is, so that a work queue takes the next one", async () => {
    await using server = await program();
    const stream = await server.stream({ retention: "workqueue" });
    for (const payload of ["a", "b", "c"]) await server.publish(`${stream}.a`, payload);
    for (const expected of [
      ["a", "b"],
      ["b", "c"],
    ]) {
      await using source = session();
      const puller = new Puller(receiver(source, { stream }));
      await connected(source);
      const [first, second] = await puller.take(2);
      expect([first!, second!].map(text)).toEqual(expected);
      await accept(first!);
    }
    expect(await server.manager.consumers.list(stream).next()).toEqual([]);
  });

  test("stays over a lost connection, and counts", async () => {
    await using server = await program();
    const stream = await server.stream();
    await server.publish(`${stream}.a`, "a");
    await using link = await tcpProxy({ target: { port: PORT } });
    await using source = session({ port: link.port });
    const puller = new Puller(receiver(source, { stream, ack_wait: "500ms" }));
    const first = await connected(source);
    const name = await nameOn(server, stream);
    expect((await puller.next()).receiveCount).toBe(1);
    link.cut();
    await first.closed;
    await connected(source);
    expect((await puller.next()).receiveCount).toBe(2);
    expect((await server.manager.consumers.list(stream).next()).map((info) => info.name)).toEqual([name]);
  });

  test("that the server has forgotten is made anew from the first message that was not settled", async () => {
    await using server = await program();
    const stream = await server.stream();
    for (const payload of ["a", "b", "c", "d", "e"]) await server.publish(`${stream}.a`, payload);
    await using source = session();
    const puller = new Puller(receiver(source, { stream }));
    const first = await connected(source);
    const [a, b, c, d, e] = await puller.take(5);
    await accept(a!);
    await b!.settle({ kind: "release", delayMs: 60_000 });
    await accept(c!);
    await accept(e!);
    const name = await nameOn(server, stream);
    await server.manager.consumers.delete(stream, name);
    expect(await first.closed).toMatchObject(LOST);
    await expect(accept(d!)).rejects.toMatchObject(LOST);
    await connected(source);
    expect((await puller.take(4)).map(text)).toEqual(["b", "c", "d", "e"]);
  });

  test("of a stream that was made anew begins with its first message, whatever came before", async () => {
    await using server = await program();
    const name = await server.stream();
    for (const payload of ["a", "b", "c"]) await server.publish(`${name}.a`, payload);
    await using source = session();
    const puller = new Puller(receiver(source, { stream: name }));
    const first = await connected(source);
    await Promise.all((await puller.take(3)).map(accept));
    await server.manager.streams.delete(name);
    await first.closed;
    await server.stream({ name });
    await server.publish(`${name}.a`, "new");
    await connected(source);
    expect(text(await puller.next())).toBe("new");
  });

  test("that the server has forgotten after two losses is made anew from what was held in the first", async () => {
    await using server = await program();
    const stream = await server.stream();
    for (const payload of ["a", "b", "c"]) await server.publish(`${stream}.a`, payload);
    await using link = await tcpProxy({ target: { port: PORT } });
    await using source = session({ port: link.port });
    const puller = new Puller(receiver(source, { stream }));
    const first = await connected(source);
    await puller.take(3);
    link.cut();
    await first.closed;
    const second = await connected(source);
    // Long before what was held comes again.
    await server.publish(`${stream}.a`, "d");
    const d = await puller.next();
    expect(text(d)).toBe("d");
    await accept(d);
    link.cut();
    await second.closed;
    await server.manager.consumers.delete(stream, await nameOn(server, stream));
    await connected(source);
    expect((await puller.take(3)).map(text)).toEqual(["a", "b", "c"]);
  });

  test.each(["30s", "500ms"])(
    "that the server has forgotten is made anew from what was lost on its way, until that is settled (ack_wait: %s)",
    async (ackWait) => {
      await using server = await program();
      const stream = await server.stream();
      await using link = await tcpProxy({ target: { port: PORT } });
      await using source = session({ port: link.port, options: { ping_interval: "500ms" } });
      const from = receiver(source, { stream, ack_wait: ackWait }) as NatsReceiver;
      const puller = new Puller(from);
      const first = await connected(source);
      const name = await nameOn(server, stream);
      const info = () => server.manager.consumers.info(stream, name);
      await vi.waitFor(async () => expect(await info()).toMatchObject({ num_waiting: 1 }), PATIENCE);
      link.freeze();
      await server.publish(`${stream}.a`, "a");
      await vi.waitFor(async () => expect(await info()).toMatchObject({ num_ack_pending: 1 }), PATIENCE);
      link.cut();
      await first.closed;
      await link.restore();
      const second = await connected(source);
      await server.publish(`${stream}.a`, "b");
      const comes = ackWait === "30s" ? ["b"] : ["a", "b"];
      const taken = await puller.take(comes.length);
      expect(taken.map(text).toSorted()).toEqual(comes);
      await Promise.all(taken.map(accept));
      if (ackWait === "500ms") await vi.waitFor(() => expect(from.position?.inDoubt).toBe(false), PATIENCE);
      link.cut();
      await second.closed;
      await server.manager.consumers.delete(stream, name);
      await server.publish(`${stream}.a`, "c");
      await connected(source);
      expect(text(await puller.next())).toBe(ackWait === "30s" ? "a" : "c");
    },
  );

  test("that begins with what is new, and was forgotten before anything came, has missed nothing since", async () => {
    await using server = await program();
    const stream = await server.stream();
    await server.publish(`${stream}.a`, "before");
    const log: LogLine[] = [];
    await using source = session({ log });
    const puller = new Puller(receiver(source, { stream, deliver: "new" }));
    const first = await connected(source);
    const warned = [
      { message: like("an ephemeral consumer begins with what is new"), fields: { receiver_id: "in", stream } },
    ];
    expect(log).toEqual(warned);
    await server.manager.consumers.delete(stream, await nameOn(server, stream));
    await first.closed;
    await server.publish(`${stream}.a`, "meanwhile");
    await connected(source);
    expect(text(await puller.next())).toBe("meanwhile");
    expect(log).toEqual(warned);
  });
});
