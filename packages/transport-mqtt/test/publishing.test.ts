import { BridgeError, type Sender, type Session, systemClock } from "@bridge/ports";
import type { IPublishPacket, Packet } from "mqtt-packet";
import { afterEach, describe, expect, test } from "vitest";
import { connected, envelope, like, sender, session, type SessionSetup, until } from "./support/parts.ts";
import { type ScriptedBroker, scriptedBroker, type ScriptedBrokerOptions } from "./support/scripted-broker.ts";

const never = new AbortController().signal;
const stack: AsyncDisposable[] = [];

afterEach(async () => {
  for (const part of stack.splice(0).toReversed()) await part[Symbol.asyncDispose]();
});

interface Setup {
  readonly broker: ScriptedBroker;
  readonly session: Session;
  readonly sender: Sender;
}

async function setup(
  options: ScriptedBrokerOptions,
  parts: Partial<SessionSetup> & { readonly sender?: object } = {},
): Promise<Setup> {
  const broker = await scriptedBroker(options);
  const made = session({ port: broker.port, role: "target", ...parts });
  stack.push(broker, made);
  await connected(made, never);
  return { broker, session: made, sender: sender(made, { ...parts.sender }) };
}

function publishes(packets: readonly Packet[]): IPublishPacket[] {
  return packets.filter((packet) => packet.cmd === "publish");
}

/** Answers every PUBLISH with a reason code. */
function refusing(reasonCode: number): ScriptedBrokerOptions {
  return {
    script(packet, client) {
      if (packet.cmd !== "publish") return undefined;
      client.send({ cmd: "puback", messageId: packet.messageId!, reasonCode });
      return true;
    },
  };
}

/** Answers no PUBLISH. */
const silent: ScriptedBrokerOptions = { script: (packet) => packet.cmd === "publish" };

describe("the broker's answer to a message", () => {
  test.each([
    [0x80, "UNAVAILABLE"],
    [0x83, "REJECTED"],
    [0x87, "NOT_AUTHORIZED"],
    [0x90, "DESTINATION_NOT_FOUND"],
    [0x91, "UNAVAILABLE"],
    [0x97, "THROTTLED"],
    [0x99, "INVALID_PAYLOAD"],
  ])("0x%s is %s", async (reasonCode, code) => {
    const { sender: out } = await setup(refusing(reasonCode));
    await expect(out.send(envelope(), "t", never)).rejects.toMatchObject({ code });
  });

  test("that nobody has subscribed is no failure", async () => {
    const { sender: out } = await setup(refusing(0x10));
    await out.send(envelope(), "t", never);
    expect(out.counters?.()).toEqual({ sent: 1 });
  });

  test("comes with the broker's own words", async () => {
    const { sender: out } = await setup({
      script(packet, client) {
        if (packet.cmd !== "publish") return undefined;
        client.send({
          cmd: "puback",
          messageId: packet.messageId!,
          reasonCode: 0x97,
          properties: { reasonString: "slow down" },
        });
        return true;
      },
    });
    await expect(out.send(envelope(), "t", never)).rejects.toThrow(
      'quota exceeded (0x97), the broker says "slow down"',
    );
  });
});

describe("the broker's limits", () => {
  test("more messages than its Receive Maximum are never under way", async () => {
    const unanswered: number[] = [];
    let most = 0;
    const { broker, sender: out } = await setup({
      connack: { properties: { receiveMaximum: 3 } },
      script(packet, client) {
        if (packet.cmd !== "publish") return undefined;
        unanswered.push(packet.messageId!);
        most = Math.max(most, unanswered.length);
        setTimeout(() => client.send({ cmd: "puback", messageId: unanswered.shift()!, reasonCode: 0 }), 1);
        return true;
      },
    });
    const ids = Array.from({ length: 40 }, (_, i) => `m${i}`);
    await Promise.all(ids.map((id) => out.send(envelope({ id }), "t", never)));
    expect(most).toBe(3);
    expect(publishes(broker.received).map(({ properties }) => properties?.userProperties?.["message-id"])).toEqual(ids);
  });

  test("a message above its Maximum Packet Size is refused before it is sent", async () => {
    const { broker, sender: out } = await setup({ connack: { properties: { maximumPacketSize: 200 } } });
    const large = out.send(envelope({ payload: Buffer.alloc(200) }), "t", never);
    await expect(large).rejects.toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      message: like(/the broker takes 200/),
    });
    await out.send(envelope({ payload: Buffer.alloc(100) }), "t", never);
    expect(publishes(broker.received)).toHaveLength(1);
  });

  test("a message of QoS 1 is refused by a broker that knows QoS 0 only", async () => {
    const { broker, sender: out } = await setup({ connack: { properties: { maximumQoS: 0 } } });
    await expect(out.send(envelope(), "t", never)).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(publishes(broker.received)).toEqual([]);
  });

  test("a retained message is refused by a broker that keeps none", async () => {
    const { broker, sender: out } = await setup(
      { connack: { properties: { retainAvailable: false } } },
      { sender: { retain: true } },
    );
    await expect(out.send(envelope(), "t", never)).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(publishes(broker.received)).toEqual([]);
  });
});

describe("a connection that is lost", () => {
  test("fails what is under way as charged, and what waited for its turn as not tried", async () => {
    const { broker, sender: out } = await setup({ ...silent, connack: { properties: { receiveMaximum: 1 } } });
    const written = out.send(envelope(), "t", never);
    const waiting = out.send(envelope(), "t", never);
    const settled = Promise.allSettled([written, waiting]);
    await until(() => publishes(broker.received).length === 1);
    broker.client.end();
    const [first, second] = await settled;
    expect(first).toMatchObject({ status: "rejected", reason: { code: "CONNECTION_LOST", charged: true } });
    expect(second).toMatchObject({ status: "rejected", reason: { code: "CONNECTION_LOST", charged: false } });
  });

  test("over a message that the broker refuses settles it with the broker's reason, and repeats nothing by itself", async () => {
    const {
      broker,
      session: made,
      sender: out,
    } = await setup({
      script(packet, client) {
        if (packet.cmd !== "publish" || packet.topic !== "poison") return undefined;
        client.send({ cmd: "puback", messageId: packet.messageId!, reasonCode: 0x87 });
        client.end();
        return true;
      },
    });
    await expect(out.send(envelope(), "poison", never)).rejects.toMatchObject({ code: "NOT_AUTHORIZED" });
    await connected(made, never);
    await out.send(envelope(), "good", never);
    expect(publishes(broker.received).map(({ topic }) => topic)).toEqual(["poison", "good"]);
  });

  test("as soon as it has begun fails what is sent then", async () => {
    const broker = await scriptedBroker({
      script(packet, client) {
        if (packet.cmd !== "connect") return undefined;
        client.send({ cmd: "connack", sessionPresent: false, reasonCode: 0 });
        client.end();
        return true;
      },
    });
    const made = session({ port: broker.port, role: "target" });
    stack.push(broker, made);
    const cause = await made.connect(never).then(
      (connection) => connection.closed,
      (error: unknown) => error,
    );
    expect(cause).toMatchObject({ code: "CONNECTION_LOST" });
    await expect(sender(made).send(envelope(), "t", never)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  });

  test("without one a send is not tried", async () => {
    const lonely = session({ port: 1, role: "target" });
    const attempt = sender(lonely).send(envelope(), "t", never);
    await expect(attempt).rejects.toMatchObject({ code: "CONNECTION_LOST", charged: false });
  });
});

describe("a send that is given up", () => {
  test("rejects with the signal's reason, and its packet identifier is not used again while the broker may answer it", async () => {
    const answers: (() => void)[] = [];
    const { broker, sender: out } = await setup({
      script(packet, client) {
        if (packet.cmd !== "publish") return undefined;
        answers.push(() => client.send({ cmd: "puback", messageId: packet.messageId!, reasonCode: 0 }));
        return true;
      },
    });
    const controller = new AbortController();
    const abandoned = out.send(envelope(), "t", controller.signal);
    await until(() => answers.length === 1);
    controller.abort(new Error("enough"));
    await expect(abandoned).rejects.toThrow("enough");

    let answered = false;
    const next = out.send(envelope(), "t", never).then(() => (answered = true));
    const last = out.send(envelope(), "t", never);
    await until(() => answers.length === 3);
    answers[0]!();
    answers[2]!();
    await last;
    expect(answered).toBe(false);
    answers[1]!();
    await next;
    const identifiers = publishes(broker.received).map(({ messageId }) => messageId);
    expect(new Set(identifiers).size).toBe(3);
  });

  test("while it waits for its turn is never sent", async () => {
    const { broker, sender: out } = await setup({ ...silent, connack: { properties: { receiveMaximum: 1 } } });
    const first = out.send(envelope(), "t", never);
    first.catch(() => {});
    const controller = new AbortController();
    const second = out.send(envelope(), "never", controller.signal);
    controller.abort(new Error("enough"));
    await expect(second).rejects.toThrow("enough");
    await until(() => publishes(broker.received).length === 1);
    const { messageId = 0 } = publishes(broker.received)[0]!;
    broker.client.send({ cmd: "puback", messageId, reasonCode: 0 });
    await first;
    void out.send(envelope(), "last", never).catch(() => {});
    await until(() => publishes(broker.received).length === 2);
    expect(publishes(broker.received).map(({ topic }) => topic)).toEqual(["t", "last"]);
  });

  test("among others that wait leaves them in their turn", async () => {
    const { broker, sender: out } = await setup({
      connack: { properties: { receiveMaximum: 1 } },
      script(packet, client) {
        if (packet.cmd !== "publish") return undefined;
        setTimeout(() => client.send({ cmd: "puback", messageId: packet.messageId!, reasonCode: 0 }), 5);
        return true;
      },
    });
    const controller = new AbortController();
    const send = (topic: string, signal = never): Promise<void> => out.send(envelope(), topic, signal);
    const kept = [send("a"), send("b")];
    const abandoned = [send("x", controller.signal), send("y", controller.signal)];
    kept.push(send("c"), send("d"));
    controller.abort(new Error("enough"));
    for (const one of abandoned) await expect(one).rejects.toThrow("enough");
    await Promise.all(kept);
    expect(publishes(broker.received).map(({ topic }) => topic)).toEqual(["a", "b", "c", "d"]);
  });

  test("behind a broker that has stopped to answer drops the connection", async () => {
    let time = 0;
    const clock = {
      ...systemClock,
      now: () => time,
      monotonic: () => time,
      delay: () => Promise.resolve(),
      every: () => ({ [Symbol.dispose]() {} }),
    };
    const broker = await scriptedBroker({ ...silent, connack: { properties: { receiveMaximum: 1 } } });
    const made = session({ port: broker.port, role: "target", clock });
    stack.push(broker, made);
    const connection = await connected(made, never);
    const out = sender(made);
    const stuck = out.send(envelope(), "t", never);
    stuck.catch(() => {});
    const controller = new AbortController();
    const waiting = out.send(envelope(), "t", controller.signal);
    waiting.catch(() => {});
    await until(() => publishes(broker.received).length === 1);
    time = 60_000;
    controller.abort(new Error("timed out"));
    await expect(connection.closed).resolves.toMatchObject({
      code: "TIMEOUT",
      message: like(/answered no publish/),
    });
    await expect(stuck).rejects.toBeInstanceOf(BridgeError);
  });
});

describe("a message of QoS 0", () => {
  test("is sent once it has left", async () => {
    const { broker, sender: out } = await setup({}, { sender: { qos: 0 } });
    await out.send(envelope(), "t", never);
    await until(() => publishes(broker.received).length === 1);
    expect(publishes(broker.received)[0]).toMatchObject({ qos: 0, topic: "t" });
  });
});

describe("a binding's address", () => {
  test.each(["", "a/+", "#", "a\0b"])("%j is no topic", async (address) => {
    const { broker, sender: out } = await setup({});
    await expect(out.send(envelope(), address, never)).rejects.toMatchObject({ code: "BINDING_UNRESOLVED" });
    expect(publishes(broker.received)).toEqual([]);
  });

  test("finding 1.6: is filled in with values that do not change what it is", () => {
    const { addressing } = sender(session({ port: 1, role: "target" }));
    const fill = (value: string, before: string): string => addressing!.fill(value, before);
    expect(addressing?.separator).toBe("/");
    expect(fill("a/b", "x/")).toBe("a/b");
    expect(fill("$x", "x/")).toBe("$x");
    for (const [value, before] of [
      ["#", ""],
      ["a\0b", "x/"],
      ["a\r\nb", "x/"],
      ["a\ud800b", "x/"],
      ["a/+/b", "x/"],
      ["$SYS/a", ""],
    ] as const) {
      expect(() => fill(value, before)).toThrow(expect.objectContaining({ code: "BINDING_UNRESOLVED" }));
    }
  });
});
