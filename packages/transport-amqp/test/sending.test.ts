import { BridgeError, systemClock } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { noBroker } from "./support/broker.ts";
import { impatientClock } from "./support/impatient-clock.ts";
import { like } from "./support/like.ts";
import { meddlingProxy, SAY } from "./support/meddling-proxy.ts";
import { connected, envelope, type LogLine, never, sender, session } from "./support/parts.ts";
import { program } from "./support/program.ts";

const KIB = 1_024;

describe.skipIf(noBroker)("a sender (needs RabbitMQ)", () => {
  test("fails a message that no queue takes, and no other", async () => {
    await using broker = await program();
    const queue = await broker.queue();
    await using target = session({ role: "target" });
    await using out = sender(target);
    await connected(target);
    const twice = envelope({ id: "same" });
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, async (_, i) => out.send(twice, i % 3 === 0 ? `nowhere-${queue}` : queue, never)),
    );
    for (const [i, result] of results.entries()) {
      if (i % 3 === 0) expect(result).toMatchObject({ status: "rejected", reason: { code: "DESTINATION_NOT_FOUND" } });
      else expect(result).toMatchObject({ status: "fulfilled" });
    }
    expect(await broker.ready(queue)).toBe(33);
  });

  test("does not learn of it with mandatory: false", async () => {
    await using target = session({ role: "target" });
    await using out = sender(target, { mandatory: false });
    await connected(target);
    await expect(out.send(envelope(), `nowhere-${crypto.randomUUID()}`, never)).resolves.toBeUndefined();
  });

  test("publishes to its exchange with the address as routing key, persistently", async () => {
    await using broker = await program();
    const queue = await broker.queue();
    const exchange = await broker.exchange("topic");
    await broker.channel.bindQueue(queue, exchange, "orders.*");
    await using target = session({ role: "target" });
    await using out = sender(target, { exchange });
    await connected(target);
    await out.send(envelope(), "orders.north", never);
    await expect(out.send(envelope(), "bills.north", never)).rejects.toMatchObject({ code: "DESTINATION_NOT_FOUND" });
    const [message] = await (await broker.collect(queue))(1);
    expect(message?.fields).toMatchObject({ exchange, routingKey: "orders.north" });
    expect(message?.properties.deliveryMode).toBe(2);
  });

  test("an exchange that is missing is the sender's trouble alone, and no longer than it is missing", async () => {
    await using broker = await program();
    const queue = await broker.queue();
    const exchange = await broker.exchange("fanout");
    await broker.channel.deleteExchange(exchange);
    await using target = session({ role: "target" });
    await using missing = sender(target, { exchange });
    await using other = sender(target);
    const connection = await connected(target);
    const results = await Promise.allSettled([
      missing.send(envelope(), "", never),
      missing.send(envelope(), "", never),
      other.send(envelope(), queue, never),
    ]);
    expect(results).toMatchObject([
      { reason: { code: "DESTINATION_NOT_FOUND", message: like(exchange) } },
      { reason: { code: "DESTINATION_NOT_FOUND" } },
      { status: "fulfilled" },
    ]);
    await broker.channel.assertExchange(exchange, "fanout");
    await broker.channel.bindQueue(queue, exchange, "");
    await missing.send(envelope(), "", never);
    expect(await broker.ready(queue)).toBe(2);
    expect(await Promise.race([connection.closed, Promise.resolve("open")])).toBe("open");
  });

  test("a message that the broker could not take (nack) is tried again", async () => {
    await using broker = await program();
    const full = await broker.queue("classic", { maxLength: 1, overflow: "reject-publish" });
    await broker.publish(full, "a");
    await using target = session({ role: "target" });
    await using out = sender(target);
    await connected(target);
    await expect(out.send(envelope(), full, never)).rejects.toMatchObject({ code: "UNAVAILABLE", charged: true });
  });

  test("tells the broker how long a message has to live, which then throws it away", async () => {
    await using broker = await program();
    const [short, long] = [await broker.queue("quorum"), await broker.queue("quorum")];
    await using target = session({ role: "target" });
    await using out = sender(target);
    await connected(target);
    await out.send(envelope({ expiresAt: Date.now() + 60_000 }), long, never);
    await out.send(envelope({ expiresAt: Date.now() + 100 }), short, never);
    await expect.poll(() => broker.ready(short), { timeout: 10_000 }).toBe(0);
    const [message] = await (await broker.collect(long))(1);
    expect(Number(message?.properties.expiration)).toBeGreaterThan(50_000);
  });

  test("refuses what AMQP cannot carry before it costs the channel", async () => {
    await using broker = await program();
    const queue = await broker.queue();
    await using target = session({ role: "target" });
    await using out = sender(target);
    await connected(target);
    const long = "x".repeat(256);
    const fits = { name: "x".repeat(65_536 - 4 - 6 - "name".length - 10) };
    for (const [fields, what] of [
      [{ id: long }, "the id"],
      [{ correlationId: long }, "the correlation id"],
      [{ contentType: long }, "the content type"],
      [{ headers: { [long]: "" } }, "the name of the header"],
      [{ headers: { "amqp.reply-to": long } }, "amqp.reply-to"],
      [{ headers: { "amqp.priority": "256" } }, "amqp.priority"],
      [{ headers: { "amqp.timestamp": "yesterday" } }, "amqp.timestamp"],
      [{ headers: { name: "x".repeat(64 * KIB) } }, "the headers have"],
      [{ headers: { ...fits, other: "x" } }, "the headers have"],
    ] as const) {
      const refused = out.send(envelope(fields), queue, never);
      await expect(refused).rejects.toMatchObject({ code: "INVALID_PAYLOAD", message: like(what) });
    }
    await expect(out.send(envelope({ expiresAt: 1 }), queue, never)).rejects.toMatchObject({ code: "MESSAGE_EXPIRED" });
    await expect(out.send(envelope(), "", never)).rejects.toMatchObject({ code: "BINDING_UNRESOLVED" });
    await expect(out.send(envelope(), long, never)).rejects.toMatchObject({ code: "BINDING_UNRESOLVED" });
    await out.send(envelope({ headers: fits }), queue, never);
    expect(await broker.ready(queue)).toBe(1);
  });

  test("a blocked connection holds messages back, and refuses them uncharged when that takes long", async () => {
    await using broker = await program();
    const queue = await broker.queue();
    await using proxy = await meddlingProxy();
    const { clock, pass } = impatientClock();
    const log: LogLine[] = [];
    await using target = session({ port: proxy.port, role: "target", clock, log });
    await using out = sender(target);
    await connected(target);
    await out.send(envelope(), queue, never);
    const blocked = async (on: boolean): Promise<void> => {
      proxy.deaf(on);
      proxy.say(on ? SAY.blocked("low on memory") : SAY.unblocked());
      await expect.poll(() => target.counters?.()["blocked"]).toBe(on ? 1 : 0);
    };

    await blocked(true);
    const held = out.send(envelope(), queue, never);
    expect(target.counters?.()).toEqual({ blocked: 1, waiting: 1, unconfirmed: 0 });
    await blocked(false);
    await held;

    await blocked(true);
    const refused = out.send(envelope(), queue, never);
    pass();
    const error = { code: "UNAVAILABLE", charged: false, message: like("low on memory") };
    await expect(refused).rejects.toMatchObject(error);
    await expect(out.send(envelope(), queue, never)).rejects.toMatchObject(error);
    await blocked(false);
    await out.send(envelope(), queue, never);
    expect(await broker.ready(queue)).toBe(3);
    expect(log.map(({ message }) => message)).toEqual([
      "the broker takes no messages",
      "the broker takes messages again",
      "the broker takes no messages",
      "the broker takes messages again",
    ]);
  });

  test("gives a message up when its signal aborts while the connection is blocked", async () => {
    await using proxy = await meddlingProxy();
    await using target = session({ port: proxy.port, role: "target" });
    await using out = sender(target);
    await connected(target);
    proxy.say(SAY.blocked("low on memory"));
    await expect.poll(() => target.counters?.()["blocked"]).toBe(1);
    const controller = new AbortController();
    const held = out.send(envelope(), "anywhere", controller.signal);
    controller.abort(new BridgeError("TIMEOUT", "too late"));
    await expect(held).rejects.toMatchObject({ code: "TIMEOUT" });
    expect(target.counters?.()["waiting"]).toBe(0);
  });

  test("drops a connection whose broker does not answer while messages wait in vain", async () => {
    await using proxy = await meddlingProxy();
    let now = 0;
    const clock = { ...systemClock, monotonic: () => now };
    await using target = session({ port: proxy.port, role: "target", clock });
    await using out = sender(target);
    // It is asked for its channel and never answers.
    const connection = await connected(target);
    proxy.deaf(true);
    const controller = new AbortController();
    const held = out.send(envelope(), "anywhere", controller.signal);
    now = 10_000;
    controller.abort(new BridgeError("TIMEOUT", "too late"));
    await expect(held).rejects.toMatchObject({ message: "too late" });
    expect(await connection.closed).toMatchObject({ code: "TIMEOUT", message: like("10000 ms") });
    await expect(out.send(envelope(), "anywhere", never)).rejects.toMatchObject({ charged: false });
  });

  test("a broker that is frozen behind an open connection keeps no socket open, however much was to be written", async () => {
    const sockets = () => process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length;
    await using broker = await program();
    const queue = await broker.queue();
    const before = sockets();
    await using proxy = await meddlingProxy();
    await using target = session({ port: proxy.port, role: "target", options: { heartbeat: "1s" } });
    await using out = sender(target);
    const connection = await connected(target);
    await out.send(envelope(), queue, never);
    proxy.freeze();
    const payload = new Uint8Array(1_000 * KIB);
    const sends = Array.from({ length: 16 }, () => out.send(envelope({ payload }), queue, never));
    const results = Promise.allSettled(sends);
    expect(await connection.closed).toMatchObject({ code: "CONNECTION_LOST", message: like("silent") });
    for (const result of await results) expect(result).toMatchObject({ reason: { code: "CONNECTION_LOST" } });
    await connection[Symbol.asyncDispose]();
    await expect.poll(sockets).toBe(before);
  });
});
