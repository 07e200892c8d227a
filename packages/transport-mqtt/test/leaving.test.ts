import { connect } from "mqtt";
import { afterEach, describe, expect, test } from "vitest";
import { anyMosquitto, type Broker, noMqtt5 } from "./support/brokers.ts";
import { connected, freshTopic, leave, Puller, receiver, session, text } from "./support/parts.ts";
import { program } from "./support/witness.ts";

const never = new AbortController().signal;

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

async function broker(): Promise<Broker> {
  return stack.use(await anyMosquitto());
}

describe.skipIf(noMqtt5).each([5, 4] as const)("a session of MQTT %i that is left (needs Mosquitto)", (version) => {
  /** A session that the broker keeps, with its name. */
  async function kept(port: number) {
    const topic = freshTopic();
    const setup = { port, options: { protocol_version: version, client_id: topic } };
    const source = session(setup);
    receiver(source, [topic]);
    await connected(source, never);
    await source[Symbol.asyncDispose]();
    return { setup, topic };
  }

  test("finding 4.4: is ended at the broker when that holds nothing for it", async () => {
    const { port } = await broker();
    const { setup, topic } = await kept(port);
    expect(await present(port, topic)).toBe(true);
    expect(await leave(setup, topic)).toBe(true);
    expect(await present(port, topic)).toBe(false);
  });

  test("finding 4.4: stays when the broker holds a message for it, and gets no more of them", async () => {
    const { port } = await broker();
    const { setup, topic } = await kept(port);
    await publish(port, topic, "held");
    expect(await leave(setup, topic)).toBe(false);
    await publish(port, topic, "unheard");

    const again = stack.use(session(setup));
    const puller = new Puller(receiver(again, [topic]), never);
    await connected(again, never);
    expect(text(await puller.next())).toBe("held");
    await publish(port, topic, "heard");
    expect(text(await puller.next())).toBe("heard");
  });

  test("finding 4.4: nobody can tell when the broker is away", async () => {
    await expect(leave({ port: 1, options: { protocol_version: version } }, "a")).rejects.toMatchObject({
      code: "CONNECTION_LOST",
    });
  });

  /** Whether the broker has a session of that name, as another program sees it. */
  async function present(port: number, clientId: string): Promise<boolean> {
    const client = connect(`mqtt://127.0.0.1:${port}`, {
      protocolVersion: version,
      clientId,
      clean: false,
      reconnectPeriod: 0,
      properties: { sessionExpiryInterval: 600 },
    });
    const found = new Promise<boolean>((resolve) =>
      client.once("connect", (connack) => resolve(connack.sessionPresent)),
    );
    try {
      return await found;
    } finally {
      await client.endAsync();
    }
  }

  /** Publishes from outside at QoS 1. */
  async function publish(port: number, topic: string, payload: string): Promise<void> {
    const client = await program(port);
    await client.publishAsync(topic, payload, { qos: 1 });
    await client.endAsync();
  }
});
