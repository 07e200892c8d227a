import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { generate } from "mqtt-packet";
import { afterEach, describe, expect, it } from "vitest";
import { judge, type RouteJudgement } from "../src/auditor/judge.ts";
import { Ledger } from "../src/auditor/ledger.ts";
import { Wires } from "../src/auditor/wires.ts";
import { payloadOf } from "../src/message.ts";
import type { Mode, RouteName } from "../src/routes.ts";

const PUBACK = Buffer.from([0x40, 2, 0, 1]);
const OK = Buffer.from("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
const UNAVAILABLE = Buffer.from("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n");
const ACCEPTED = Buffer.from("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n");

const cleanups: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

describe("between the bridge and a target", () => {
  it("a send without an answer is in doubt when the connection ends", async () => {
    const wire = await wiretap("target", "mqtt");
    await wire.pass(wire.client, publish(wire.id), wire.server);
    await wire.end();
    expect(wire.judged()).toMatchObject({ bound: 1 });
    expect(wire.wires.interruptions).toMatchObject({ connections: 1, unconfirmed: 1 });
  });

  it("a confirmation just before the end is in doubt, as it may not have been read", async () => {
    const wire = await wiretap("target", "mqtt");
    await wire.pass(wire.client, publish(wire.id), wire.server);
    await wire.pass(wire.server, PUBACK, wire.client);
    await wire.end();
    expect(wire.judged()).toMatchObject({ bound: 1 });
    expect(wire.wires.interruptions).toMatchObject({ unconfirmed: 0, unread: 1 });
  });

  it.each(["paused", "starved"] as const)(
    "a confirmation is in doubt that a bridge which is %s has not read for long",
    async (hindrance) => {
      const wire = await wiretap("target", "mqtt");
      wire.wires.hinder(hindrance, true);
      await wire.pass(wire.client, publish(wire.id), wire.server);
      await wire.pass(wire.server, PUBACK, wire.client);
      await setTimeout(1_200);
      await wire.end();
      expect(wire.judged()).toMatchObject({ bound: 1 });
    },
  );

  it("without an end nothing that was confirmed is in doubt", async () => {
    const wire = await wiretap("target", "mqtt");
    await wire.pass(wire.client, publish(wire.id), wire.server);
    await wire.pass(wire.server, PUBACK, wire.client);
    expect(wire.judged()).toMatchObject({ bound: 0 });
  });

  it("nothing is in doubt for a process that is killed and knows nothing any more", async () => {
    const wire = await wiretap("target", "mqtt");
    await wire.pass(wire.client, publish(wire.id), wire.server);
    wire.wires.dying();
    await wire.end();
    expect(wire.judged()).toMatchObject({ bound: 0 });
  });

  it("an outbox remembers beyond a kill what was not confirmed", async () => {
    const wire = await wiretap("target", "mqtt", "shared_outbox");
    await wire.pass(wire.client, publish(wire.id), wire.server);
    wire.wires.dying();
    await wire.end();
    expect(wire.judged()).toMatchObject({ bound: 1 });
  });

  it("a confirmation is in doubt while the outbox cannot be written", async () => {
    const wire = await wiretap("target", "mqtt", "shared_outbox");
    wire.wires.hinder("outbox_full", true);
    await wire.pass(wire.client, publish(wire.id), wire.server);
    await wire.pass(wire.server, PUBACK, wire.client);
    expect(wire.judged()).toMatchObject({ bound: 1 });
  });

  it.each([
    ["direct_hold", "mqtt-mqtt", 0],
    ["shared_outbox", "http-mqtt", 1],
  ] as const)(
    "with both modes, a kill and a full outbox concern a route in %s as if it were alone",
    async (_, route, bound) => {
      const killed = await wiretap("target", "mqtt", "both", route);
      await killed.pass(killed.client, publish(killed.id), killed.server);
      killed.wires.dying();
      await killed.end();
      expect(killed.judged()).toMatchObject({ bound });

      const full = await wiretap("target", "mqtt", "both", route);
      await full.pass(full.client, publish(full.id), full.server);
      await full.pass(full.server, PUBACK, full.client);
      full.wires.hinder("outbox_full", true);
      expect(full.judged()).toMatchObject({ bound });
    },
  );

  it.each([
    ["taken", OK, 0],
    ["refused", UNAVAILABLE, 1],
  ])("a request that is %s counts so", async (_, response, bound) => {
    const wire = await wiretap("target", "http");
    await wire.pass(wire.client, post(wire.id), wire.server);
    await wire.pass(wire.server, response, wire.client);
    expect(wire.judged()).toMatchObject({ bound });
  });
});

describe("between the bridge and a source", () => {
  it("sees what a broker hands over, and that it is acknowledged", async () => {
    const wire = await wiretap("source", "mqtt");
    wire.ledger.accepted(wire.id);
    await wire.pass(wire.server, publish(wire.id), wire.client);
    expect(wire.judged()).toMatchObject({ atSource: 1, lost: 0 });
    await wire.pass(wire.client, PUBACK, wire.server);
    expect(wire.judged()).toMatchObject({ atSource: 0, lost: 1 });
  });

  it("sees what callers hand over, again and again, and that it is accepted", async () => {
    const wire = await wiretap("source", "http");
    wire.ledger.accepted(wire.id);
    await wire.pass(wire.client, post(wire.id), wire.server);
    await wire.pass(wire.server, UNAVAILABLE, wire.client);
    expect(wire.judged()).toMatchObject({ atSource: 1, bound: 0 });
    await wire.pass(wire.client, post(wire.id), wire.server);
    await wire.pass(wire.server, ACCEPTED, wire.client);
    expect(wire.judged()).toMatchObject({ lost: 1, bound: 1 });
  });
});

interface Wire {
  readonly ledger: Ledger;
  readonly wires: Wires;
  readonly id: string;
  readonly client: Socket;
  readonly server: Socket;
  /** Resolves when all of it has come out at the other end, as it was. */
  pass(from: Socket, bytes: Buffer, to: Socket): Promise<void>;
  /** Breaks the connection off at the client; resolves when the tap knows. */
  end(): Promise<void>;
  judged(): RouteJudgement;
}

/** One connection through a tap, and a message in the ledger. */
async function wiretap(
  end: "source" | "target",
  transport: "mqtt" | "http",
  mode: Mode = "direct_hold",
  route: RouteName = "mqtt-mqtt",
): Promise<Wire> {
  const ledger = new Ledger([route], Date.now());
  const { id } = ledger.open(route);
  const wires = new Wires(ledger, mode);
  const listener = await listen();
  const { port } = listener.address() as AddressInfo;
  const tap = end === "source" ? await wires.tapSource(transport, port) : await wires.tapTarget(transport, port);
  cleanups.push(() => tap[Symbol.asyncDispose]());
  const accepted = once(listener, "connection");
  const client = connect(tap.port, "127.0.0.1");
  const [server] = (await accepted) as [Socket];
  cleanups.push(
    () => void client.destroy(),
    () => void server.destroy(),
  );
  server.on("error", () => {});
  return {
    ledger,
    wires,
    id,
    client,
    server,
    async pass(from, bytes, to) {
      let received = Buffer.alloc(0);
      from.write(bytes);
      while (received.length < bytes.length) {
        const [chunk] = (await once(to, "data")) as [Buffer];
        received = Buffer.concat([received, chunk]);
      }
      expect(received.equals(bytes)).toBe(true);
    },
    async end() {
      const { connections } = wires.interruptions;
      client.resetAndDestroy();
      await expect.poll(() => wires.interruptions.connections, { timeout: 10_000 }).toBe(connections + 1);
    },
    judged: () => judge(ledger, [route], mode, { deadLetters: [], outbox: [] }).routes[0]!,
  };
}

async function listen(): Promise<Server> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => void server.close());
  return server;
}

function publish(id: string): Buffer {
  return generate(
    { cmd: "publish", topic: "in/x", payload: payloadOf(id), qos: 1, dup: false, retain: false, messageId: 1 },
    { protocolVersion: 5 },
  );
}

function post(id: string): Buffer {
  const body = payloadOf(id);
  return Buffer.concat([Buffer.from(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`), body]);
}
