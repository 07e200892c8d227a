/**
 * Starts and stops a bridge many times in one process, with a message through it each time, and prints what that left
 * behind. Run with `--expose-gc`. @module
 */
import { createRegistry, parseConfig } from "@bridge/config";
import { createSupervisor } from "@bridge/core";
import { argv, getActiveResourcesInfo, memoryUsage, stdout } from "node:process";
import { plugins } from "../../src/compose.ts";

export interface Left {
  /** Kinds of handles that keep the process busy, with how many there are. */
  readonly handles: Readonly<Record<string, number>>;
  readonly heapBytes: number;
}

export interface Cycled {
  readonly first: Left;
  readonly last: Left;
}

const [brokerUrl = "", folder = "", cycles = ""] = argv.slice(2);

const registry = createRegistry(plugins());
const config = parseConfig(
  {
    bridge: { id: "cycles", drain_timeout: "5s" },
    stores: {
      dlq: { type: "file", options: { path: `${folder}/dlq.db` } },
      outbox: { type: "file", options: { path: `${folder}/outbox.db` } },
    },
    sessions: [{ id: "broker", transport: "mqtt", options: { broker_urls: [brokerUrl] } }],
    receivers: [
      { id: "topic", session_id: "broker", topics: [{ topic: "in", qos: 1 }] },
      { id: "web", transport: "http", options: { addr: "127.0.0.1:0" } },
    ],
    senders: [{ id: "out", session_id: "broker" }],
    bindings: [{ id: "to-out", sender_id: "out", address: "out" }],
    processors: [
      { id: "twice", type: "transform", options: { payload: "[$, $]" } },
      { id: "breaker", type: "circuit_breaker" },
    ],
    routes: [
      {
        id: "held",
        receiver_id: "topic",
        processors: ["breaker"],
        bindings: ["to-out"],
        rate_limit: { messages_per_second: 1000 },
      },
      { id: "kept", receiver_id: "web", processors: ["twice"], bindings: ["to-out"], delivery_mode: "shared_outbox" },
    ],
  },
  registry,
);

async function cycle(): Promise<void> {
  const bound = AbortSignal.timeout(60_000);
  const bridge = createSupervisor({ config, registry });
  await bridge.start(bound);
  const payload = new TextEncoder().encode("1");
  for (const route of ["held", "kept"]) {
    const { outcome } = await bridge.inject(route, { subject: "s", payload }, { signal: bound });
    if (outcome !== "delivered") throw new Error(`route ${route}: ${outcome}`);
  }
  await bridge.stop(bound);
  await bridge.start(bound);
  await bridge.shutdown();
}

async function left(): Promise<Left> {
  // Whatever closes after its promise has resolved is given the time to do so.
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 10));
  const handles: Record<string, number> = {};
  for (const kind of getActiveResourcesInfo()) handles[kind] = (handles[kind] ?? 0) + 1;
  for (let turn = 0; turn < 3; turn++) globalThis.gc?.();
  return { handles, heapBytes: memoryUsage().heapUsed + memoryUsage().arrayBuffers };
}

const WARM = 50;
for (let done = 0; done < WARM; done++) await cycle();
const first = await left();
for (let done = WARM; done < Number(cycles); done++) await cycle();
stdout.write(`${JSON.stringify({ first, last: await left() } satisfies Cycled)}\n`);
