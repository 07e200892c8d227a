import { type Clock, systemClock } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { Heartbeat } from "../src/heartbeat.ts";
import { noMosquitto } from "./support/brokers.ts";
import { mosquitto } from "./support/mosquitto.ts";
import {
  accept,
  connected,
  freshTopic,
  like,
  Puller,
  receiver,
  session,
  type SessionSetup,
  text,
  until,
} from "./support/parts.ts";
import { scriptedBroker } from "./support/scripted-broker.ts";
import { program } from "./support/witness.ts";

const never = new AbortController().signal;
const KEEP_ALIVE_MS = 2_000;

/** A session that notices soon. */
function build(setup: SessionSetup) {
  const options = { keep_alive: `${KEEP_ALIVE_MS}ms`, ...setup.options };
  return session({ ...setup, options });
}

/** A broker waits for a sign of life for one and a half keep alive times. */
function sleep(ms: number): Promise<void> {
  return systemClock.delay(ms, never);
}

describe("the heartbeat", () => {
  function beating() {
    let tick = (): void => {};
    const counts = { pings: 0, silences: 0, intervalMs: 0 };
    const clock: Clock = {
      ...systemClock,
      every(ms, action) {
        counts.intervalMs = ms;
        tick = action;
        return { [Symbol.dispose]: () => (tick = () => {}) };
      },
    };
    const heartbeat = new Heartbeat(clock, KEEP_ALIVE_MS, {
      ping: () => counts.pings++,
      silent: () => counts.silences++,
    });
    const beat = (ticks: number): void => {
      for (let i = 0; i < ticks; i++) tick();
    };
    return { heartbeat, counts, beat };
  }

  test("pings within the keep alive time, whatever else goes on", () => {
    const { heartbeat, counts, beat } = beating();
    for (let i = 0; i < 40; i++) {
      heartbeat.heard();
      beat(1);
    }
    expect(counts.intervalMs * 40).toBe(10 * KEEP_ALIVE_MS);
    expect(counts.pings).toBeGreaterThanOrEqual(10);
    expect(counts.silences).toBe(0);
  });

  test("takes a broker for lost after one and a half keep alive times of silence, not after one", () => {
    const { counts, beat } = beating();
    beat(KEEP_ALIVE_MS / counts.intervalMs);
    expect(counts.silences).toBe(0);
    beat((0.5 * KEEP_ALIVE_MS) / counts.intervalMs);
    expect(counts.silences).toBe(1);
  });

  test("does not count the silence of a broker that is not read from, and goes on pinging", () => {
    const { heartbeat, counts, beat } = beating();
    heartbeat.excuse(true);
    beat(100);
    expect(counts.silences).toBe(0);
    expect(counts.pings).toBeGreaterThan(20);
    heartbeat.excuse(false);
    beat(6);
    expect(counts.silences).toBe(1);
  });

  test("leaves nothing behind", () => {
    const { heartbeat, counts, beat } = beating();
    heartbeat[Symbol.dispose]();
    beat(100);
    expect(counts).toMatchObject({ pings: 0, silences: 0 });
  });
});

describe.skipIf(noMosquitto)("a broker that is frozen (needs Mosquitto)", { concurrent: true }, () => {
  test.each(["source", "target"] as const)("is noticed within the keep alive bound (%s)", async (role) => {
    await using broker = await mosquitto();
    await using made = build({ port: broker.port, role });
    const connection = await connected(made, never);
    broker.freeze();
    const begun = performance.now();
    await expect(connection.closed).resolves.toMatchObject({
      code: "CONNECTION_LOST",
      message: like(/silent/),
    });
    expect(performance.now() - begun).toBeGreaterThan(KEEP_ALIVE_MS);
    broker.thaw();
  });
});

describe.skipIf(noMosquitto)("a connection stays up (needs Mosquitto)", { concurrent: true }, () => {
  test.each([5, 4])(
    "while messages are held for longer than the broker waits for a sign of life (version %i)",
    async (protocol_version) => {
      await using broker = await mosquitto();
      const { port } = broker;
      const topic = freshTopic();
      await using source = build({ port, options: { protocol_version, client_id: topic } });
      const puller = new Puller(receiver(source, [topic]), never);
      const connection = await connected(source, never);
      let lost = false;
      void connection.closed.then(() => (lost = true));
      const client = await program(port);
      await client.publishAsync(topic, "a", { qos: 1 });
      await client.publishAsync(topic, "b", { qos: 1 });
      const [a, b] = await puller.take(2);
      await sleep(2 * KEEP_ALIVE_MS);
      await client.publishAsync(topic, "c", { qos: 1 });
      expect(text(await puller.next())).toBe("c");
      expect(lost).toBe(false);
      await accept(a!);
      await accept(b!);
      await client.endAsync();
    },
  );

  test("while nothing is read from it, because nobody takes what has come", async () => {
    await using broker = await mosquitto({ config: ["max_inflight_messages 0"] });
    const { port } = broker;
    const topic = freshTopic();
    await using source = build({ port, options: { client_id: topic, receive_maximum: 60_000 } });
    const inbox = receiver(source, [topic]);
    const connection = await connected(source, never);
    let lost = false;
    void connection.closed.then(() => (lost = true));
    const client = await program(port);
    const count = 5_000;
    for (let sent = 0; sent < count; sent += 500) {
      const payloads = Array.from({ length: 500 }, (_, i) => String(sent + i));
      await Promise.all(payloads.map((payload) => client.publishAsync(topic, payload, { qos: 1 })));
    }
    await until(() => source.counters?.()["pauses"] === 1);
    const { waiting = 0 } = source.counters?.() ?? {};
    expect(waiting).toBe(100);
    await sleep(2 * KEEP_ALIVE_MS);
    expect(lost).toBe(false);
    expect(source.counters?.()["waiting"]).toBe(waiting);

    const puller = new Puller(inbox, never);
    for (let i = 0; i < count; i++) {
      const delivery = await puller.next();
      expect(text(delivery)).toBe(String(i));
      await accept(delivery);
    }
    expect(lost).toBe(false);
    await client.endAsync();
  });
});

test("a large message is read although it is more than may wait", async () => {
  await using broker = await scriptedBroker();
  await using source = build({ port: broker.port, options: { max_message_bytes: 32 * 1024 * 1024 } });
  const inbox = receiver(source, ["t"]);
  await connected(source, never);
  const payload = Buffer.alloc(20 * 1024 * 1024, 1);
  for (const messageId of [1, 2]) {
    broker.client.send({ cmd: "publish", topic: "t", payload, qos: 1, dup: false, retain: false, messageId });
  }
  const puller = new Puller(inbox, never);
  for (const delivery of await puller.take(2)) expect(delivery.message.payload.length).toBe(payload.length);
});
