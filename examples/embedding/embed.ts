/** The engine inside a program of yours, in 30 lines. `pnpm run embed` @module */
import { createRegistry, parseConfig } from "@bridge/config";
import { createSupervisor } from "@bridge/core";
import { memoryDlqPlugin } from "@bridge/dlq-memory";
import { memoryHub, memoryTransport } from "@bridge/transport-memory";

const hub = memoryHub();
const registry = createRegistry({ transports: [memoryTransport(hub)], dlqStores: [memoryDlqPlugin] });

const config = parseConfig(
  {
    bridge: { id: "embedded" },
    stores: { dlq: { type: "memory", options: { acknowledge_volatile: true } } },
    receivers: [{ id: "in", transport: "memory", options: { channel: "in" } }],
    senders: [{ id: "out", transport: "memory" }],
    bindings: [{ id: "to-out", sender_id: "out", address: "out" }],
    routes: [{ id: "copy", receiver_id: "in", bindings: ["to-out"] }],
  },
  registry,
);

const bridge = createSupervisor({ config, registry });
const soon = AbortSignal.timeout(10_000);
await bridge.start(soon);

hub.publish("in", { id: "m1", payload: "hello" });
const [message] = await hub.channel("out").waitForMessages(1, soon);
console.log(`${message?.id}: ${new TextDecoder().decode(message?.payload)}`);

await bridge.shutdown();
