import { PATIENCE } from "@bridge/tooling/patience";
import { createRegistry, parseConfig } from "@bridge/config";
import { createSupervisor, type Supervisor } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { BridgeError } from "@bridge/ports";
import { type MemoryHub, memoryHub, memory } from "@bridge/transport-memory";
import { describe, expect, test, vi } from "vitest";
import { amqpTransport } from "../src/amqp-transport.ts";
import { noBroker, PORT } from "./support/broker.ts";
import { connected, never, Puller, receiver, session } from "./support/parts.ts";
import { program } from "./support/program.ts";

const ATTEMPTS = 3;

interface Bridge extends AsyncDisposable {
  readonly supervisor: Supervisor;
  readonly hub: MemoryHub;
}

/** A bridge from a queue to a channel in memory, with one message at a time under way. */
async function bridge(options: Readonly<Record<string, unknown>>, failures: number): Promise<Bridge> {
  const hub = memoryHub();
  hub.channel("out").sends.failNext(failures, new BridgeError("UNAVAILABLE", "not now"));
  const registry = createRegistry({ transports: [amqpTransport, memory(hub).plugin()], dlqStores: [memoryDlq] });
  const document = {
    bridge: { id: "test", quiesce_timeout: "1s" },
    stores: { dlq: { type: "memory", options: { acknowledge_volatile: true } } },
    sessions: [{ id: "rabbit", transport: "amqp", options: { url: `amqp://127.0.0.1:${PORT}` } }],
    receivers: [{ id: "in", session_id: "rabbit", options }],
    senders: [{ id: "out", transport: "memory" }],
    bindings: [{ id: "to-out", sender_id: "out", address: "out" }],
    routes: [
      {
        id: "route",
        receiver_id: "in",
        bindings: ["to-out"],
        policy: {
          max_in_flight: 1,
          max_replay_attempts: ATTEMPTS,
          backoff: { initial_interval: "100ms", max_interval: "100ms" },
        },
      },
    ],
  };
  const supervisor = createSupervisor({ config: parseConfig(document, registry), registry });
  await supervisor.start(never);
  return { supervisor, hub, [Symbol.asyncDispose]: () => supervisor.shutdown() };
}

const leg = ({ supervisor }: Bridge) => supervisor.stats().legs.find(({ bindingId }) => bindingId === "to-out")!;

const ends = (of: Bridge) => leg(of).dispositions;

const arrivals = async ({ hub }: Bridge, count: number): Promise<readonly string[]> =>
  (await hub.channel("out").waitForMessages(count, never)).map(({ payload }) => Buffer.from(payload).toString());

describe.skipIf(noBroker)("a bridge from a classic queue (needs RabbitMQ)", () => {
  test.each([
    { queue_type: "classic", messageId: undefined, tries: ATTEMPTS, released: 0 },
    { queue_type: "classic", messageId: "m1", tries: ATTEMPTS, released: ATTEMPTS - 1 },
    // Only what is handed out again shows that the queue does not count.
    { queue_type: "quorum", messageId: undefined, tries: ATTEMPTS + 1, released: 1 },
  ] as const)(
    "spec 1.3: gives a message with the id $messageId up at the cap, though it goes back to a queue that is called $queue_type",
    async ({ queue_type, messageId, tries, released }) => {
      await using broker = await program();
      const queue = await broker.queue("classic");
      await broker.publish(queue, "a", messageId === undefined ? {} : { messageId });
      await using route = await bridge({ queue, queue_type, retry: "requeue" }, Number.MAX_SAFE_INTEGER);
      await vi.waitFor(() => expect(ends(route).dead_lettered).toBe(1), PATIENCE);
      const [entry] = await route.supervisor.dlq()!.list({}, { limit: 10, offset: 0 }, never);
      expect(entry).toMatchObject({ attempts: ATTEMPTS, category: "transient" });
      expect(leg(route)).toMatchObject({ attempts: tries, dispositions: { released } });
    },
  );
});

describe.skipIf(noBroker)("a bridge from a quorum queue (needs RabbitMQ)", () => {
  test.each(["hold", "requeue"] as const)(
    "spec 1.3: goes on counting where another process stopped, and gives a message up at the cap (retry: %s)",
    async (retry) => {
      await using broker = await program();
      const queue = await broker.queue("quorum");
      await broker.publish(queue, "a");
      {
        await using source = session();
        const puller = new Puller(receiver(source, { queue }));
        await connected(source);
        expect((await puller.next()).receiveCount).toBe(1);
      }
      await using route = await bridge({ queue, retry }, Number.MAX_SAFE_INTEGER);
      await vi.waitFor(() => expect(ends(route).dead_lettered).toBe(1), PATIENCE);
      const [entry] = await route.supervisor.dlq()!.list({}, { limit: 10, offset: 0 }, never);
      expect(entry).toMatchObject({ attempts: ATTEMPTS, errorCode: "UNAVAILABLE", category: "transient" });
      // One of the three attempts was the other process's.
      expect(ends(route)).toMatchObject({ released: retry === "requeue" ? 1 : 0, delivered: 0 });
      expect(await broker.ready(queue)).toBe(0);
    },
  );

  test("finding 6.3: with one message in flight all come in the order of the queue, through retries", async () => {
    await using broker = await program();
    for (const type of ["classic", "quorum"] as const) {
      const queue = await broker.queue(type);
      const payloads = ["1", "2", "3", "4", "5"];
      for (const payload of payloads) await broker.publish(queue, payload);
      await using route = await bridge({ queue, prefetch: 10 }, ATTEMPTS - 1);
      expect(await arrivals(route, payloads.length)).toEqual(payloads);
    }
  });

  test.each([
    { retry: "hold", key: undefined, order: ["a", "b"] },
    { retry: "requeue", key: undefined, order: ["b", "a"] },
    { retry: "requeue", key: "k", order: ["a", "b"] },
  ] as const)("with retry: $retry and the ordering key $key, a message that fails once makes $order", async (parts) => {
    await using broker = await program();
    const queue = await broker.queue("quorum");
    const headers = parts.key === undefined ? {} : { "ordering-key": parts.key };
    for (const payload of ["a", "b"]) await broker.publish(queue, payload, { headers });
    await using route = await bridge({ queue, retry: parts.retry, prefetch: 2 }, 1);
    expect(await arrivals(route, 2)).toEqual(parts.order);
    await vi.waitFor(() => expect(ends(route).delivered).toBe(2), PATIENCE);
  });
});
