import { RESERVED } from "@bridge/ports";
import { afterEach, describe, expect, test } from "vitest";
import { anyMosquitto, noMosquitto, noMqtt5 } from "./support/brokers.ts";
import { mosquitto } from "./support/mosquitto.ts";
import {
  accept,
  connected,
  envelope,
  freshTopic,
  Puller,
  receiver,
  sender,
  session,
  type SessionSetup,
  text,
} from "./support/parts.ts";
import { witness } from "./support/witness.ts";

const never = new AbortController().signal;

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

async function target(setup: SessionSetup, options: Readonly<Record<string, unknown>> = {}) {
  const made = stack.use(session({ role: "target", ...setup }));
  await connected(made, never);
  return { session: made, sender: sender(made, options) };
}

describe.skipIf(noMqtt5)("on Mosquitto", () => {
  test("a message arrives with everything that it carries, and comes back as it was (5)", async () => {
    const { port } = stack.use(await anyMosquitto());
    const topic = freshTopic();
    const seen = stack.use(await witness({ port, filter: topic }));
    const source = stack.use(session({ port }));
    const puller = new Puller(receiver(source, [topic]), never);
    await connected(source, never);
    const { sender: out } = await target({ port });
    const sent = envelope({
      id: "m-1",
      correlationId: "base64:/wA=",
      contentType: "application/json",
      headers: {
        "mqtt.response-topic": "reply",
        colour: "red",
        [RESERVED.generatedId]: "true",
        [RESERVED.orderingKey]: "k",
      },
    });
    await out.send(sent, topic, never);
    const [packet] = await seen.until(1);
    expect(packet?.properties).toEqual({
      contentType: "application/json",
      responseTopic: "reply",
      correlationData: Buffer.of(0xff, 0x00),
      userProperties: { "message-id": "m-1", "ordering-key": "k", colour: "red" },
    });
    const { message } = await puller.next();
    expect(message).toMatchObject({
      id: "m-1",
      correlationId: "base64:/wA=",
      orderingKey: "k",
      contentType: "application/json",
    });
    expect({ ...message.headers }).toEqual({ "mqtt.response-topic": "reply", colour: "red" });
  });

  test("topic and payload arrive, nothing else (3.1.1)", async () => {
    const { port } = stack.use(await anyMosquitto());
    const topic = freshTopic();
    const seen = stack.use(await witness({ port, filter: topic }));
    const { sender: out } = await target({ port, options: { protocol_version: 4 } });
    await out.send(envelope({ headers: { colour: "red" }, payload: Buffer.of(0, 255) }), topic, never);
    const [packet] = await seen.until(1);
    expect(packet).toMatchObject({ topic, payload: Buffer.of(0, 255), qos: 1, retain: false });
    expect(packet?.properties).toBeUndefined();
  });

  test("a retained message is there for who comes later", async () => {
    const { port } = stack.use(await anyMosquitto());
    const topic = freshTopic();
    const { sender: out } = await target({ port }, { retain: true });
    await out.send(envelope({ payload: Buffer.from("kept") }), topic, never);
    const seen = stack.use(await witness({ port, filter: topic }));
    expect((await seen.until(1)).map(({ payload, retain }) => [payload.toString(), retain])).toEqual([["kept", true]]);
    await out.send(envelope({ payload: Buffer.alloc(0) }), topic, never);
  });
});

describe.skipIf(noMosquitto)("a broker that denies or limits (needs Mosquitto)", () => {
  test("a denied message fails as NOT_AUTHORIZED, although the broker drops the connection over it, and the next one goes", async () => {
    const { port } = stack.use(
      await mosquitto({ files: { acl: "topic readwrite allowed/#\n" }, config: ["acl_file DIR/acl"] }),
    );
    const { session: made, sender: out } = await target({ port });
    await expect(out.send(envelope(), "denied", never)).rejects.toMatchObject({ code: "NOT_AUTHORIZED" });
    await connected(made, never);
    await out.send(envelope(), "allowed/x", never);
  });

  test("a message above the broker's limit fails as PAYLOAD_TOO_LARGE, and the connection stays", async () => {
    const { port } = stack.use(await mosquitto({ config: ["max_packet_size 1000"] }));
    const { sender: out } = await target({ port });
    const sends = [out.send(envelope({ payload: Buffer.alloc(1_000) }), "t", never), out.send(envelope(), "t", never)];
    await expect(sends[0]).rejects.toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
    await sends[1];
  });
});

describe.skipIf(noMosquitto).each([5, 4])("MQTT version %i (needs Mosquitto)", (protocol_version) => {
  test("thousands of sends at once all arrive in their order", async () => {
    const { port } = stack.use(await mosquitto());
    const topic = freshTopic();
    const source = stack.use(session({ port }));
    const puller = new Puller(receiver(source, [topic]), never);
    await connected(source, never);
    const { sender: out } = await target({ port, options: { protocol_version } });
    const payloads = Array.from({ length: 5_000 }, (_, i) => String(i));
    const sends = Promise.all(
      payloads.map((payload) => out.send(envelope({ payload: Buffer.from(payload) }), topic, never)),
    );
    for (const payload of payloads) {
      const delivery = await puller.next();
      expect(text(delivery)).toBe(payload);
      await accept(delivery);
    }
    await sends;
  });
});
