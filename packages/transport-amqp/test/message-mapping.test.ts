import { describe, expect, test } from "vitest";
import { channelFailures } from "../src/channel-failures.ts";
import { Refusal } from "../src/connection/refusal.ts";
import { asTransient, connectError, lossError, replyError } from "../src/reply-codes.ts";
import { noBroker } from "./support/broker.ts";
import { connected, envelope, never, Puller, receiver, sender, session } from "./support/parts.ts";
import { program } from "./support/program.ts";

describe.skipIf(noBroker)("a message (needs RabbitMQ)", () => {
  test("comes in with what its publisher said, as headers", async () => {
    await using broker = await program();
    const queue = await broker.queue();
    const exchange = await broker.exchange("topic");
    await broker.channel.bindQueue(queue, exchange, "#");
    await using source = session();
    const puller = new Puller(receiver(source, { queue, queue_type: "classic" }));
    await connected(source);
    await broker.publish("orders.north", "a", {
      exchange,
      messageId: "id-1",
      correlationId: "c-1",
      contentType: "text/plain",
      contentEncoding: "gzip",
      replyTo: "answers",
      type: "order",
      appId: "shop",
      userId: "guest",
      priority: 7,
      timestamp: 1_700_000_000,
      expiration: "60000",
      headers: {
        Region: "north",
        region: "south",
        count: 3,
        when: { "!": "timestamp", value: 1 },
        "ordering-key": "customer-1",
        "dedup-id": 12,
        "x-bridge.dedup-id": "forged",
        "amqp.redelivered": "forged",
        "x-death": [{ count: 1, queue: "q" }],
      },
    });
    const before = Date.now();
    const { message } = await puller.next();
    expect(message).toMatchObject({
      id: "id-1",
      subject: "orders.north",
      contentType: "text/plain",
      correlationId: "c-1",
      orderingKey: "customer-1",
      dedupId: "12",
    });
    expect(message.expiresAt! - before).toBeGreaterThan(50_000);
    expect({ ...message.headers }).toEqual({
      region: "north, south",
      count: "3",
      when: "1970-01-01T00:00:01.000Z",
      "x-death": '[{"count":1,"queue":"q"}]',
      "amqp.exchange": exchange,
      "content-encoding": "gzip",
      "amqp.reply-to": "answers",
      "amqp.type": "order",
      "amqp.app-id": "shop",
      "amqp.user-id": "guest",
      "amqp.priority": "7",
      "amqp.timestamp": "2023-11-14T22:13:20.000Z",
    });
  });

  test("comes in without an id, a type or headers when it has none", async () => {
    await using broker = await program();
    const queue = await broker.queue();
    await using source = session();
    const puller = new Puller(receiver(source, { queue, queue_type: "classic" }));
    await connected(source);
    await broker.publish(queue, "");
    const { message } = await puller.next();
    const { headers, payload, ...rest } = message;
    expect([{ ...headers }, payload.length]).toEqual([{}, 0]);
    expect(Object.entries(rest).filter(([, value]) => value !== undefined)).toEqual([["subject", queue]]);
  });

  test("finding 6.11: in any letter case its ordering key and deduplication id act, those in lower case before others", async () => {
    await using broker = await program();
    const queue = await broker.queue();
    await using source = session();
    const puller = new Puller(receiver(source, { queue, queue_type: "classic" }));
    await connected(source);
    await broker.publish(queue, "", { headers: { "Ordering-Key": "k", "DEDUP-ID": "other", "dedup-id": "d" } });
    const { message } = await puller.next();
    expect(message).toMatchObject({ orderingKey: "k", dedupId: "d" });
    expect({ ...message.headers }).toEqual({ "dedup-id": "other" });
  });

  test("finding 6.11: a header that acts elsewhere only goes out under its name", async () => {
    await using broker = await program();
    const queue = await broker.queue();
    await using target = session({ role: "target" });
    await using out = sender(target);
    await connected(target);
    const collect = await broker.collect(queue);
    await out.send(envelope({ headers: { "ordering-key": "k", "dedup-id": "d", "message-id": "m" } }), queue, never);
    const [got] = await collect(1);
    expect(got?.properties.headers).toEqual({ "ordering-key": "k", "dedup-id": "d", "message-id": "m" });
  });

  test("finding 6.12: what HTTP calls content-encoding is the property, both ways; what is none of its codings is not", async () => {
    await using broker = await program();
    const queue = await broker.queue();
    await using target = session({ role: "target" });
    await using out = sender(target);
    await connected(target);
    const collect = await broker.collect(queue);
    await out.send(envelope({ headers: { "content-encoding": "br" } }), queue, never);
    const [got] = await collect(1);
    expect(got?.properties).toMatchObject({ contentEncoding: "br", headers: {} });

    const celerys = await broker.queue();
    await using source = session();
    const puller = new Puller(receiver(source, { queue: celerys, queue_type: "classic" }));
    await connected(source);
    await broker.publish(celerys, "", { contentEncoding: "GZIP, br" });
    await broker.publish(celerys, "", { contentEncoding: "utf-8" });
    expect({ ...(await puller.next()).message.headers }).toEqual({ "content-encoding": "GZIP, br" });
    expect({ ...(await puller.next()).message.headers }).toEqual({ "amqp.content-encoding": "utf-8" });
  });

  test("goes out with the properties that its headers stand for, and without the broker's own", async () => {
    await using broker = await program();
    const queue = await broker.queue();
    await using target = session({ role: "target" });
    await using out = sender(target);
    await connected(target);
    const collect = await broker.collect(queue);
    await out.send(
      envelope({
        id: "id-1",
        correlationId: "id-1",
        contentType: "text/plain",
        expiresAt: Date.now() + 60_000,
        headers: {
          region: "north",
          "x-bridge.ordering-key": "customer-1",
          "x-bridge.dedup-id": "d-1",
          "ordering-key": "not the key of the bridge",
          "x-death": "[]",
          "x-delivery-count": "3",
          "x-first-death-queue": "q",
          "amqp.user-id": "somebody",
          "amqp.reply-to": "answers",
          "amqp.priority": "7",
          "amqp.timestamp": "2023-11-14T22:13:20Z",
          "amqp.type": "order",
          "amqp.app-id": "shop",
          "amqp.content-encoding": "gzip",
        },
      }),
      queue,
      never,
    );
    await out.send(envelope({ expiresAt: Date.now() + 60 * 86_400_000 }), queue, never);
    const [first, second] = await collect(2);
    expect(first?.properties).toMatchObject({
      messageId: "id-1",
      correlationId: undefined,
      contentType: "text/plain",
      contentEncoding: "gzip",
      deliveryMode: 2,
      replyTo: "answers",
      priority: 7,
      timestamp: 1_700_000_000,
      type: "order",
      appId: "shop",
      userId: undefined,
      headers: {
        region: "north",
        "ordering-key": "customer-1",
        "dedup-id": "d-1",
        "Ordering-Key": "not the key of the bridge",
      },
    });
    expect(Object.keys(first?.properties.headers ?? {})).toHaveLength(4);
    expect(Number(first?.properties.expiration)).toBeGreaterThan(50_000);
    expect(second?.properties.expiration, "longer than a broker can count").toBeUndefined();
  });
});

describe("what a broker says", () => {
  test.each([
    [311, "PAYLOAD_TOO_LARGE"],
    [312, "DESTINATION_NOT_FOUND"],
    [313, "UNAVAILABLE"],
    [320, "CONNECTION_LOST"],
    [403, "NOT_AUTHORIZED"],
    [404, "DESTINATION_NOT_FOUND"],
    [405, "UNAVAILABLE"],
    [406, "REJECTED"],
    [501, "CONNECTION_LOST"],
    [505, "CONNECTION_LOST"],
    [506, "UNAVAILABLE"],
    [530, "FORBIDDEN"],
    [540, "FORBIDDEN"],
    [541, "UNAVAILABLE"],
    [999, "UNAVAILABLE"],
  ])("%i is %s", (reply, code) => {
    expect(replyError("not done", reply, "NOT_FOUND - why")).toMatchObject({ code });
  });

  test("is kept, but for routing keys, which may come from messages", () => {
    const said = "access to topic 'customer-17' in exchange 'plant' in vhost '/' refused for user 'guest'";
    expect(replyError("not sent", 403, said).message).toBe(
      `not sent: access refused (403), the broker says "access to topic in exchange 'plant' in vhost '/' refused for user 'guest'"`,
    );
  });

  test("is no reason to give up what was being sent when the connection is lost", () => {
    const refused = lossError("amqp://host", new Refusal(530, "NOT_ALLOWED - vhost gone"));
    expect(refused.code).toBe("FORBIDDEN");
    expect(asTransient(refused, true)).toMatchObject({ code: "CONNECTION_LOST", charged: true });
  });

  test("while a connection is opened is told in words, also when it hangs up", () => {
    const hungUp = connectError("amqp://host", undefined);
    expect(hungUp).toMatchObject({ code: "CONNECTION_LOST" });
    const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
    expect(connectError("amqp://host", refused).message).toContain("nothing listens there");
  });
});

describe("a channel that is closed because of a message", () => {
  const closed = (code: number, said: string): Refusal => new Refusal(code, said);
  const published = [
    { routingKey: "a", messageId: "1", size: 10 },
    { routingKey: "b", messageId: "2", size: 200 },
  ];
  const codes = (error: Refusal, of = published): readonly unknown[] =>
    channelFailures(error, of, () => {}).map(({ code, charged }) => [code, charged]);

  test("for its size: only what is too large fails, and the limit is kept", () => {
    const limits: number[] = [];
    const said = "PRECONDITION_FAILED - message size 200 is larger than configured max size 100";
    const failures = channelFailures(closed(406, said), published, (maxSize) => limits.push(maxSize));
    expect(failures.map(({ code, charged }) => [code, charged])).toEqual([
      ["UNAVAILABLE", false],
      ["PAYLOAD_TOO_LARGE", true],
    ]);
    expect(failures[1]?.message).toBe("the payload has 200 bytes, the broker takes 100");
    expect(limits).toEqual([100]);
  });

  test("for its topic: only messages of that topic fail", () => {
    const said = "ACCESS_REFUSED - access to topic 'b' in exchange 'plant' in vhost '/' refused for user 'guest'";
    expect(codes(closed(403, said))).toEqual([
      ["UNAVAILABLE", false],
      ["NOT_AUTHORIZED", true],
    ]);
  });

  test("for its exchange, which all go to: all fail", () => {
    expect(codes(closed(404, "NOT_FOUND - no exchange 'x' in vhost '/'"))).toEqual([
      ["DESTINATION_NOT_FOUND", true],
      ["DESTINATION_NOT_FOUND", true],
    ]);
  });

  test("for something else: it is one message's fault when there is one, and nobody's when there are several", () => {
    const error = closed(406, "PRECONDITION_FAILED - invalid message");
    expect(codes(error, published.slice(1))).toEqual([["REJECTED", true]]);
    expect(codes(error)).toEqual([
      ["UNAVAILABLE", true],
      ["UNAVAILABLE", true],
    ]);
  });
});
