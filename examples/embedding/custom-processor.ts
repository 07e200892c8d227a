/** A processor of your own at work. `pnpm run custom-processor` @module */
import { createRegistry, parseConfig } from "@bridge/config";
import { createSupervisor } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { memoryHub, memory } from "@bridge/transport-memory";
import { thresholdPlugin } from "./threshold.ts";

const hub = memoryHub();
const registry = createRegistry({
  transports: [memory(hub)],
  dlqStores: [memoryDlq],
  processors: [thresholdPlugin],
});

const config = parseConfig(
  {
    bridge: { id: "processing" },
    stores: { dlq: { type: "memory", options: { acknowledge_volatile: true } } },
    receivers: [{ id: "in", transport: "memory", options: { channel: "in" } }],
    senders: [{ id: "out", transport: "memory" }],
    bindings: [{ id: "to-out", sender_id: "out", address: "readings/{temperature}" }],
    processors: [{ id: "hot", type: "threshold", options: { field: "temperature", min: 50 } }],
    routes: [{ id: "hot-only", receiver_id: "in", processors: ["hot"], bindings: ["to-out"] }],
  },
  registry,
);

const bridge = createSupervisor({ config, registry });
const soon = AbortSignal.timeout(10_000);
await bridge.start(soon);

for (const payload of ['{"temperature":20}', '{"temperature":72}', "no json"]) hub.publish("in", { payload });
await hub.channel("in").waitForSettlements(3, soon);

const [entry] = (await bridge.dlq()?.list({}, { limit: 1, offset: 0 }, soon)) ?? [];
console.log(`passed: ${hub.channel("readings/72").arrived}`);
console.log(`dead letter: ${entry?.errorCode}, ${entry?.lastError}`);
for (const { bindingId, dispositions } of bridge.stats().legs) {
  console.log(`${bindingId === "" ? "before a binding" : bindingId}:`, JSON.stringify(dispositions));
}

await bridge.shutdown();
