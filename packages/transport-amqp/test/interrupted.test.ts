import { tcpProxy } from "@bridge/conformance";
import { describe, expect, test } from "vitest";
import { noBroker, PORT } from "./support/broker.ts";
import { accept, connected, envelope, never, Puller, receiver, sender, session, text } from "./support/parts.ts";
import { program } from "./support/program.ts";

const LOST = { code: "CONNECTION_LOST" };

describe.skipIf(noBroker).each(["cut", "reset"] as const)("a connection that is %s (needs RabbitMQ)", (how) => {
  test("fails what was sent, which counts as an attempt, and what was not, which does not", async () => {
    await using broker = await program();
    const queue = await broker.queue();
    await using link = await tcpProxy({ target: { port: PORT } });
    await using target = session({ port: link.port, role: "target" });
    await using out = sender(target);
    const connection = await connected(target);
    await out.send(envelope(), queue, never);
    link.freeze();
    const sent = Promise.allSettled([out.send(envelope(), queue, never), out.send(envelope(), queue, never)]);
    // This one's channel was not opened yet.
    await using other = sender(target);
    const waiting = other.send(envelope(), queue, never);
    waiting.catch(() => {});
    expect(target.counters?.()).toMatchObject({ unconfirmed: 2, waiting: 1 });
    link[how]();
    for (const result of await sent) expect(result).toMatchObject({ reason: { ...LOST, charged: true } });
    await expect(waiting).rejects.toMatchObject({ ...LOST, charged: false });
    expect(await connection.closed).toMatchObject(LOST);
    await expect(out.send(envelope(), queue, never)).rejects.toMatchObject({ ...LOST, charged: false });

    await link.restore();
    await connected(target);
    await out.send(envelope(), queue, never);
    expect(await broker.ready(queue)).toBe(2);
  });

  test("takes with it the right to settle, though the next one gives messages the same tags", async () => {
    await using broker = await program();
    const queue = await broker.queue("quorum");
    for (const content of ["a", "b"]) await broker.publish(queue, content);
    await using link = await tcpProxy({ target: { port: PORT } });
    await using source = session({ port: link.port });
    const puller = new Puller(receiver(source, { queue }));
    const first = await connected(source);
    const [oldA, oldB] = await puller.take(2);
    // Accepted in the turn in which the connection goes, and after that.
    const late = accept(oldA!).then(
      () => "told",
      () => "refused",
    );
    link[how]();
    expect(await first.closed).toMatchObject(LOST);
    expect(oldB!.signal?.aborted).toBe(true);
    await expect(accept(oldB!)).rejects.toMatchObject(LOST);

    await connected(source);
    await expect(accept(oldB!)).rejects.toMatchObject(LOST);
    await late;
    // "a" comes too if the broker has not heard of it in time.
    const again = [...(await puller.take(1))];
    if (text(again[0]!) === "a") again.push(...(await puller.take(1)));
    expect(again.map(text)).toContain("b");
    expect(again.map(({ receiveCount }) => receiveCount)).toEqual(again.map(() => 2));
    // All of it is the new connection's: nothing was settled by the old one's tags.
    expect(source.counters?.()["unacknowledged"]).toBeGreaterThanOrEqual(again.length);
    await Promise.all(again.map(accept));
  });
});
