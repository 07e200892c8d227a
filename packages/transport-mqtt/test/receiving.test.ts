import { BridgeError } from "@bridge/ports";
import { afterEach, describe, expect, test } from "vitest";
import { anyMosquitto, type Broker, noMqtt5 } from "./support/brokers.ts";
import {
  accept,
  connected,
  freshTopic,
  type LogLine,
  Puller,
  receiver,
  session,
  type SessionSetup,
  text,
  until,
} from "./support/parts.ts";
import { program } from "./support/witness.ts";

const never = new AbortController().signal;
const MANY = 100;

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

async function broker(): Promise<Broker> {
  return stack.use(await anyMosquitto());
}

function build(setup: SessionSetup) {
  return stack.use(session(setup));
}

/** Publishes from outside at QoS 1, one after the other. */
async function publish(port: number, topic: string, ...payloads: readonly string[]): Promise<void> {
  const client = await program(port);
  for (const payload of payloads) await client.publishAsync(topic, payload, { qos: 1 });
  await client.endAsync();
}

function numbers(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => String(i));
}

describe.skipIf(noMqtt5).each([5, 4] as const)("MQTT version %i (needs Mosquitto)", (protocol_version) => {
  const options = { protocol_version };

  test("messages come in while others are held, and go away as they are settled, in any order", async () => {
    const { port } = await broker();
    const topic = freshTopic();
    const source = build({ port, window: MANY, options: { ...options, client_id: topic } });
    const puller = new Puller(receiver(source, [topic]), never);
    const connection = await connected(source, never);
    // With version 3.1.1 the broker decides on the window: 20 unless it is told otherwise.
    const held = protocol_version === 5 ? MANY : 20;
    await publish(port, topic, ...numbers(held));
    const deliveries = await puller.take(held);
    expect(new Set(deliveries.map(text))).toEqual(new Set(numbers(held)));
    const kept = deliveries.filter((_, index) => index % 3 === 0);
    const settled = deliveries.filter((_, index) => index % 3 !== 0).toReversed();
    const told = settled.map((delivery) => accept(delivery));
    await connection[Symbol.asyncDispose]();
    // On the way out everything settled is acknowledged, also what waited for its turn.
    await Promise.all(told);

    await connected(source, never);
    const again = await puller.take(kept.length);
    expect(again.map(text).toSorted()).toEqual(kept.map(text).toSorted());
    for (const { message } of again) expect(message.headers).toMatchObject({ "mqtt.dup": "true" });
  });

  test("a settlement of a lost connection is refused, and acknowledges nothing on the next one", async () => {
    const { port } = await broker();
    const topic = freshTopic();
    const source = build({ port, options: { ...options, client_id: topic } });
    const puller = new Puller(receiver(source, [topic]), never);
    const first = await connected(source, never);
    await publish(port, topic, "a");
    const stale = await puller.next();
    await first[Symbol.asyncDispose]();
    expect(stale.signal?.aborted).toBe(true);

    await connected(source, never);
    const fresh = await puller.next();
    // The broker uses the packet identifier again, so that a late acknowledgement would be taken for this one's.
    await expect(accept(stale)).rejects.toBeInstanceOf(BridgeError);
    await source[Symbol.asyncDispose]();
    expect(fresh.signal?.aborted).toBe(true);

    const next = build({ port, options: { ...options, client_id: topic } });
    const later = new Puller(receiver(next, [topic]), never);
    await connected(next, never);
    expect(text(await later.next())).toBe("a");
  });

  test("a message of QoS 0 has nothing to settle and is not taken back", async () => {
    const { port } = await broker();
    const topic = freshTopic();
    const source = build({ port, options });
    const puller = new Puller(receiver(source, [{ topic, qos: 0 }]), never);
    const connection = await connected(source, never);
    await publish(port, topic, "a");
    const delivery = await puller.next();
    await connection[Symbol.asyncDispose]();
    expect(delivery.signal).toBeUndefined();
    expect(delivery.settle({ kind: "accept", outcome: "delivered", envelopeId: "x" })).toBeUndefined();
  });

  test("QoS 2 is subscribed as QoS 1, so that the message can be held", async () => {
    const { port } = await broker();
    const topic = freshTopic();
    const source = build({ port, options: { ...options, client_id: topic } });
    const puller = new Puller(receiver(source, [{ topic, qos: 2 }]), never);
    const connection = await connected(source, never);
    const client = await program(port);
    await client.publishAsync(topic, "a", { qos: 2 });
    await client.endAsync();
    await puller.next();
    await connection[Symbol.asyncDispose]();
    await connected(source, never);
    expect(text(await puller.next())).toBe("a");
  });

  test("a retained message says so, and one that is published now does not", async () => {
    const { port } = await broker();
    const topic = freshTopic();
    const client = await program(port);
    await client.publishAsync(topic, "old", { qos: 1, retain: true });
    const source = build({ port, options });
    const puller = new Puller(receiver(source, [topic]), never);
    await connected(source, never);
    const old = await puller.next();
    expect([text(old), old.message.headers?.["mqtt.retain"]]).toEqual(["old", "true"]);
    await client.publishAsync(topic, "new", { qos: 1, retain: true });
    const fresh = await puller.next();
    expect([text(fresh), fresh.message.headers?.["mqtt.retain"]]).toEqual(["new", undefined]);
    await client.publishAsync(topic, "", { qos: 1, retain: true });
    await client.endAsync();
  });

  test("members of a shared subscription share its messages", async () => {
    const { port } = await broker();
    const topic = freshTopic();
    const ended = new AbortController();
    const got: string[] = [];
    const members = [0, 1].map(() => {
      const source = build({ port, mode: "ephemeral", options: { ...options, client_id: freshTopic() } });
      return { source, member: receiver(source, [`$share/group/${topic}/#`]) };
    });
    for (const { source } of members) await connected(source, never);
    const taking = members.map(async ({ member }) => {
      for await (const delivery of member.receive(ended.signal)) {
        got.push(text(delivery));
        await accept(delivery);
      }
    });
    await publish(port, `${topic}/x`, ...numbers(10));
    await until(() => got.length === 10);
    ended.abort();
    await Promise.all(taking);
    expect(got.toSorted()).toEqual(numbers(10));
  });

  test("receivers with overlapping topics get each message once, and it is acknowledged when both have accepted it", async () => {
    const { port } = await broker();
    const topic = freshTopic();
    const source = build({ port, options: { ...options, client_id: topic } });
    const one = new Puller(receiver(source, [`${topic}/#`], "one"), never);
    const other = new Puller(receiver(source, [`${topic}/+`], "other"), never);
    const connection = await connected(source, never);
    await publish(port, `${topic}/x`, "a", "b");
    const [a1, b1] = await one.take(2);
    const [a2, b2] = await other.take(2);
    expect([a1!, b1!, a2!, b2!].map(text)).toEqual(["a", "b", "a", "b"]);
    expect([await one.has(), await other.has()]).toEqual([false, false]);
    const told = [a1!, a2!, b1!].map((delivery) => accept(delivery).catch((error: unknown) => error));
    await connection[Symbol.asyncDispose]();
    expect(await told[0]).toBeUndefined();

    await connected(source, never);
    expect(text(await other.next())).toBe("b");
  });

  test("finding 4.4: what comes for a subscription of an unknown past is refused as UNROUTED, and acknowledged only then", async () => {
    const { port } = await broker();
    const [topic, former] = [freshTopic(), freshTopic()];
    const peer = await program(port, protocol_version, topic);
    await peer.subscribeAsync(former, { qos: 1 });
    await peer.endAsync();
    await publish(port, former, "a", "b");

    const log: LogLine[] = [];
    const after = build({ port, log, options: { ...options, client_id: topic } });
    const puller = new Puller(receiver(after, [topic]), never);
    await connected(after, never);
    for (const payload of ["a", "b"]) {
      const delivery = await puller.next();
      expect(delivery).toMatchObject({
        message: { subject: former },
        undecodable: { code: "UNROUTED", class: "rejected" },
      });
      expect(text(delivery)).toBe(payload);
      if (payload === "a") expect(after.counters?.()).toMatchObject({ acknowledged: 0 });
      await accept(delivery);
    }
    await publish(port, topic, "c");
    expect(text(await puller.next())).toBe("c");
    expect(after.counters?.()).toMatchObject({ received: 3, unmatched: 2 });
    expect(log.filter(({ message }) => message.includes("no receiver has a topic for"))).toEqual([
      expect.objectContaining({ level: "warn", fields: { topic: former } }),
    ]);
  });

  test("finding 4.4: a topic that a change has removed is unsubscribed, so that nothing comes for it any more", async () => {
    const { port } = await broker();
    const [topic, former] = [freshTopic(), freshTopic()];
    const before = build({ port, options: { ...options, client_id: topic } });
    receiver(before, [topic, former]);
    await connected(before, never);
    await before[Symbol.asyncDispose]();

    const after = build({ port, options: { ...options, client_id: topic } });
    const puller = new Puller(receiver(after, [topic]), never);
    await connected(after, never);
    await publish(port, former, "a");
    await publish(port, topic, "b");
    expect(text(await puller.next())).toBe("b");
    expect(after.counters?.()).toMatchObject({ received: 1, unmatched: 0 });
  });
});

describe.skipIf(noMqtt5)("an ephemeral session (needs Mosquitto)", () => {
  test("is forgotten by the broker, with what it has not handed over", async () => {
    const { port } = await broker();
    const topic = freshTopic();
    const source = build({ port, mode: "ephemeral", options: { client_id: topic } });
    const puller = new Puller(receiver(source, [topic]), never);
    const connection = await connected(source, never);
    await publish(port, topic, "a");
    await puller.next();
    await connection[Symbol.asyncDispose]();
    await publish(port, topic, "b");
    await connected(source, never);
    await publish(port, topic, "c");
    expect(text(await puller.next())).toBe("c");
  });
});

describe.skipIf(noMqtt5)("a subscription of MQTT 5 (needs Mosquitto)", () => {
  test("finding 6.12: a message that is published with retain says so with retain_as_published", async () => {
    const { port } = await broker();
    const topic = freshTopic();
    const client = await program(port);
    const source = build({ port, options: { retain_as_published: true } });
    const puller = new Puller(receiver(source, [topic]), never);
    await connected(source, never);
    await client.publishAsync(topic, "kept", { qos: 1, retain: true });
    await client.publishAsync(topic, "passing", { qos: 1 });
    const kept = await puller.next();
    const passing = await puller.next();
    expect([text(kept), kept.message.headers?.["mqtt.retain"]]).toEqual(["kept", "true"]);
    expect([text(passing), passing.message.headers?.["mqtt.retain"]]).toEqual(["passing", undefined]);
    await client.publishAsync(topic, "", { qos: 1, retain: true });
    await client.endAsync();
  });
});

test("a topic that is no topic filter is refused as the receiver is built", () => {
  expect(() => receiver(session({ port: 1 }), ["a/#/b"])).toThrow('receiver in: the topic "a/#/b" has a "#"');
});

test("topics of one receiver that overlap are worth a warning", () => {
  const log: LogLine[] = [];
  receiver(session({ port: 1, log }), ["a/#", "b", "a/+"]);
  expect(log).toEqual([
    expect.objectContaining({ level: "warn", fields: { receiver_id: "in", topics: ["a/#", "a/+"] } }),
  ]);
});
