import { env } from "node:process";
import { AckPolicy, jetstream, type JetStreamClient, jetstreamManager, type JsMsg } from "@nats-io/jetstream";
import { connect, headers, type NatsConnection } from "@nats-io/transport-node";
import { listening } from "@bridge/tooling/listening";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Entry } from "../src/auditor/entry.ts";
import { Ledger } from "../src/auditor/ledger.ts";
import { natsSourceListener } from "../src/auditor/nats-listeners.ts";
import type { Tap } from "../src/auditor/tap.ts";
import { Wires } from "../src/auditor/wires.ts";
import { payloadOf } from "../src/message.ts";

const PORT = 4222;
const ROUTE = "nats-nats";
const noNats = env["BRIDGE_REQUIRE_BROKERS"] !== "1" && !(await listens());

/** What a true server and a true client say to each other passes through a tap. */
describe.skipIf(noNats)("on NATS", () => {
  let ledger: Ledger;
  let wires: Wires;
  let tap: Tap;
  let client: NatsConnection;
  let stream: string;
  let subject: string;
  let streams: JetStreamClient;

  const open = async (role: "source" | "target"): Promise<void> => {
    tap = await (role === "source" ? wires.tapSource("nats", PORT) : wires.tapTarget("nats", PORT));
    client = await connect({ servers: `127.0.0.1:${tap.port}`, reconnect: false });
    stream = `torture-${crypto.randomUUID()}`;
    subject = `${stream}.in`;
    await (await jetstreamManager(client)).streams.add({ name: stream, subjects: [subject] });
    streams = jetstream(client);
  };
  const message = (): string => ledger.open(ROUTE).id;
  const publish = async (id: string, to = subject) => {
    const marks = headers();
    marks.set("lane", "0");
    await streams.publish(to, payloadOf(id), { headers: marks });
  };
  const entry = (id: string): Entry => ledger.find(id)!;

  beforeEach(() => {
    ledger = new Ledger([ROUTE], Date.now());
    wires = new Wires(ledger, "direct_hold");
  });
  afterEach(async () => {
    await (await jetstreamManager(client)).streams.delete(stream);
    await client.close();
    await tap[Symbol.asyncDispose]();
  });

  it("sees what was sent, and whether a stream has taken it", async () => {
    await open("target");
    const [taken, bare, lost] = [message(), message(), message()];
    await publish(taken);
    await streams.publish(subject, payloadOf(bare));
    await expect(publish(lost, `${stream}.nowhere`)).rejects.toThrow("jetstream");
    expect([taken, bare, lost].map((id) => [entry(id).sends, entry(id).doubtful])).toEqual([
      [1, 0],
      [1, 0],
      [1, 1],
    ]);
  });

  it("sees what was handed over, and what of it was settled, in whatever way", async () => {
    await open("source");
    const ids = Array.from({ length: 5 }, message);
    for (const id of ids) await publish(id);
    const manager = await jetstreamManager(client);
    await manager.consumers.add(stream, { durable_name: "c", ack_policy: AckPolicy.Explicit });
    const consumer = await streams.consumers.get(stream, "c");
    const taken: JsMsg[] = [];
    for await (const one of await consumer.fetch({ max_messages: 5, expires: 5_000 })) taken.push(one);
    taken[0]!.ack();
    await taken[1]!.ackAck();
    taken[2]!.term();
    taken[3]!.nak();
    taken[4]!.working();
    await client.flush();
    const again = await consumer.next({ expires: 5_000 });
    expect(again?.seq).toBe(4);
    expect(ids.map((id) => entry(id).settled)).toEqual([1, 1, 1, 0, 0]);
    expect(ids.map((id) => entry(id).handed)).toEqual([1, 1, 1, 2, 1]);
  });
});

it("what NATS says is read in pieces of any size, with and without headers and a place to answer", () => {
  const ledger = new Ledger([ROUTE], 0);
  const [first, second] = [ledger.open(ROUTE).id, ledger.open(ROUTE).id];
  const listener = natsSourceListener(ledger);
  const head = "NATS/1.0\r\nmessage-id: x\r\n\r\n";
  const said = [
    `PING\r\nINFO {"a":"MSG x 1 5"}\r\n`,
    `MSG other 1 256\r\n${payloadOf(first).toString()}\r\n`,
    `MSG in 1 $JS.ACK.1 256\r\n${payloadOf(first).toString()}\r\n`,
    `HMSG in 1 $JS.ACK.2 ${head.length} ${head.length + 256}\r\n${head}${payloadOf(second).toString()}\r\n`,
  ].join("");
  for (const byte of Buffer.from(said)) listener.fromServer(Buffer.of(byte));
  expect([first, second].map((id) => ledger.find(id)?.handed)).toEqual([1, 1]);
  for (const byte of Buffer.from("PUB $JS.ACK.1 4\r\n+ACK\r\nPUB $JS.ACK.2 4\r\n+WPI\r\n"))
    listener.fromClient(Buffer.of(byte));
  expect([first, second].map((id) => ledger.find(id)?.settled)).toEqual([1, 0]);
});

function listens(): Promise<boolean> {
  return listening(PORT, 1_000).then(
    () => true,
    () => false,
  );
}
