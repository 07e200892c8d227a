import { PATIENCE } from "@bridge/tooling/patience";
import { type BridgeDocument, createRegistry, parseConfig } from "@bridge/config";
import { createSupervisor, type Supervisor } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { BridgeError } from "@bridge/ports";
import { type MemoryHub, memoryHub, memory } from "@bridge/transport-memory";
import { describe, expect, test, vi } from "vitest";
import { natsTransport } from "../src/nats-transport.ts";
import { connected, never, Puller, receiver, session } from "./support/parts.ts";
import { program } from "./support/program.ts";
import { noServer, PORT } from "./support/server.ts";

const ATTEMPTS = 3;
type Options = Readonly<Record<string, unknown>>;

interface Bridge extends AsyncDisposable {
  readonly supervisor: Supervisor;
  readonly hub: MemoryHub;
}

function documentOf(options: Options, more: Options = {}, maxInFlight = 2): BridgeDocument {
  return {
    bridge: { id: "test", quiesce_timeout: "1s", ...more },
    stores: { dlq: { type: "memory", options: { acknowledge_volatile: true } } },
    sessions: [{ id: "nats", transport: "nats", options: { servers: [`nats://127.0.0.1:${PORT}`] } }],
    receivers: [{ id: "in", session_id: "nats", options }],
    senders: [{ id: "out", transport: "memory" }],
    bindings: [{ id: "to-out", sender_id: "out", address: "out" }],
    routes: [
      {
        id: "route",
        receiver_id: "in",
        bindings: ["to-out"],
        policy: {
          max_in_flight: maxInFlight,
          max_replay_attempts: ATTEMPTS,
          backoff: { initial_interval: "50ms", max_interval: "50ms" },
        },
      },
    ],
  };
}

/** A bridge from a stream to a channel in memory whose first sends fail. */
async function bridge(options: Options, failures: number, maxInFlight = 2): Promise<Bridge> {
  const hub = memoryHub();
  hub.channel("out").sends.failNext(failures, new BridgeError("UNAVAILABLE", "not now"));
  const registry = createRegistry({ transports: [natsTransport, memory(hub).plugin()], dlqStores: [memoryDlq] });
  const supervisor = createSupervisor({
    config: parseConfig(documentOf(options, {}, maxInFlight), registry),
    registry,
  });
  await supervisor.start(never);
  return { supervisor, hub, [Symbol.asyncDispose]: () => supervisor.shutdown() };
}

const ends = ({ supervisor }: Bridge) =>
  supervisor.stats().legs.find(({ bindingId }) => bindingId === "to-out")!.dispositions;

describe.skipIf(noServer)("a bridge from a stream (needs NATS)", () => {
  test("spec 1.3: goes on counting where another process stopped, and gives a message up at the cap", async () => {
    await using server = await program();
    const stream = await server.stream({ retention: "workqueue" });
    const consumer = await server.consumer(stream);
    await server.publish(`${stream}.a`, "a");
    {
      await using source = session();
      const puller = new Puller(receiver(source, { stream, consumer }));
      await connected(source);
      expect((await puller.next()).receiveCount).toBe(1);
    }
    await using route = await bridge({ stream, consumer }, Number.MAX_SAFE_INTEGER);
    await vi.waitFor(() => expect(ends(route).dead_lettered).toBe(1), PATIENCE);
    const [entry] = await route.supervisor.dlq()!.list({}, { limit: 10, offset: 0 }, never);
    expect(entry).toMatchObject({ attempts: ATTEMPTS, errorCode: "UNAVAILABLE", category: "transient" });
    // One of the three attempts was the other process's; the first of this one's went back to the server to wait.
    expect(ends(route)).toMatchObject({ released: 1, delivered: 0 });
    await vi.waitFor(async () => expect((await server.manager.streams.info(stream)).state.messages).toBe(0), PATIENCE);
  });

  test("finding 6.3: with one message in flight all come in the order of the stream, through retries", async () => {
    await using server = await program();
    const stream = await server.stream();
    const consumer = await server.consumer(stream, { max_ack_pending: 100 });
    const payloads = ["1", "2", "3", "4", "5"];
    for (const payload of payloads) await server.publish(`${stream}.a`, payload);
    await using route = await bridge({ stream, consumer }, ATTEMPTS - 1, 1);
    const arrived = await route.hub.channel("out").waitForMessages(payloads.length, never);
    expect(arrived.map(({ payload }) => Buffer.from(payload).toString())).toEqual(payloads);
    expect(ends(route)).toMatchObject({ released: 0 });
  });

  test("what waits for a retry does not hold up what comes behind it", async () => {
    await using server = await program();
    const stream = await server.stream();
    await using route = await bridge({ stream, consumer: "c", create: true, max_ack_pending: 10 }, 1);
    await server.publish(`${stream}.a`, "a");
    await vi.waitFor(() => expect(ends(route).released).toBe(1), PATIENCE);
    await server.publish(`${stream}.a`, "b");
    const arrived = await route.hub.channel("out").waitForMessages(2, never);
    expect(arrived.map(({ payload }) => Buffer.from(payload).toString()).toSorted()).toEqual(["a", "b"]);
    await vi.waitFor(
      async () => expect(await server.manager.consumers.info(stream, "c")).toMatchObject({ num_ack_pending: 0 }),
      PATIENCE,
    );
  });
});

test("in a cluster a receiver without a durable consumer is refused: each instance would get everything", () => {
  const registry = createRegistry({
    transports: [natsTransport, memory(memoryHub()).plugin()],
    dlqStores: [{ ...memoryDlq, reach: "cluster" }],
  });
  const parse = (options: Options) =>
    parseConfig(documentOf(options, { instance_id: "a", deployment_mode: "clustered" }), registry);
  expect(() => parse({ stream: "S", filter_subject: "a.>" })).toThrow(/every message of receiver "in"/);
  expect(() => parse({ stream: "S", consumer: "c" })).not.toThrow();
});
