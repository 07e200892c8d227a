/** A processor of your own at work. `pnpm run custom-processor` @module */
import { defineBridge } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { memory } from "@bridge/transport-memory";
import { threshold } from "./threshold.ts";

const hot = threshold({ field: "temperature", min: 50 });
const inside = memory();
const { hub } = inside;
const processing = defineBridge({
  id: "processing",
  processors: { hot },
  stores: { dlq: memoryDlq({ acknowledge_volatile: true }) },
  routes: {
    "hot-only": {
      from: inside.channel("in"),
      processors: [hot],
      to: inside.at("readings/{temperature}"),
    },
  },
});

const soon = AbortSignal.timeout(10_000);
const bridge = await processing.start({ signal: soon });

for (const payload of ['{"temperature":20}', '{"temperature":72}', "no json"]) hub.publish("in", { payload });
await hub.channel("in").waitForSettlements(3, soon);

const [entry] = (await bridge.dlq()?.list({}, { limit: 1, offset: 0 }, soon)) ?? [];
console.log(`passed: ${hub.channel("readings/72").arrived}`);
console.log(`dead letter: ${entry?.errorCode}, ${entry?.lastError}`);
for (const { bindingId, dispositions } of bridge.stats().legs) {
  console.log(`${bindingId === "" ? "before a binding" : bindingId}:`, JSON.stringify(dispositions));
}

await bridge.shutdown();
