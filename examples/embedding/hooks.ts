/** Hooks: what fails, why, and what is kept. `pnpm run hooks` @module */
import { defineBridge } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { handler } from "@bridge/transport-function";
import { memory } from "@bridge/transport-memory";

const inside = memory();
const kept = Promise.withResolvers<void>();
const shop = defineBridge({
  id: "shop",
  stores: { dlq: memoryDlq({ acknowledge_volatile: true }) },
  routes: {
    orders: {
      from: inside.channel("orders"),
      to: handler(() => {
        throw new RangeError("no such price");
      }),
      policy: { max_replay_attempts: 2, backoff: { initial_interval: "10ms" } },
    },
  },
  hooks: {
    onState: ({ to }) => console.log(`the bridge is ${to}`),
    onAttemptFailed: ({ route, message, error, attempt }) =>
      console.log(`${route}: attempt ${attempt} of ${message.id}: ${error.name}, ${error.message}`),
    async onDeadLetter(entry) {
      const whole = await entry.load();
      console.log(`${entry.reason}: ${new TextDecoder().decode(whole?.envelope.payload)}`);
      kept.resolve();
    },
  },
});

const bridge = await shop.start({ signal: AbortSignal.timeout(10_000) });
inside.hub.publish("orders", { id: "m1", payload: "3 apples" });
await kept.promise;
await bridge.shutdown();
