/** A bridge in code, inside a program of yours. `pnpm run embed` @module */
import { defineBridge } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { memory } from "@bridge/transport-memory";

const inside = memory();
const copy = defineBridge({
  id: "embedded",
  stores: { dlq: memoryDlq({ acknowledge_volatile: true }) },
  routes: { copy: { from: inside.channel("in"), to: inside.at("out") } },
});

const soon = AbortSignal.timeout(10_000);
const bridge = await copy.start({ signal: soon });

inside.hub.publish("in", { id: "m1", payload: "hello" });
const [message] = await inside.hub.channel("out").waitForMessages(1, soon);
console.log(`${message?.id}: ${new TextDecoder().decode(message?.payload)}`);

await bridge.shutdown();
