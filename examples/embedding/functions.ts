/** Messages from and to code: a source, a handler with a schema, a dead letter. `pnpm run functions` @module */
import { defineBridge } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { handler, PermanentError, source } from "@bridge/transport-function";
import * as v from "valibot";

const outcomes: string[] = [];
const done = Promise.withResolvers<void>();
const orders = source(async function* () {
  for (const payload of [{ item: "apples", count: 3 }, { item: "pears", count: 0 }, { item: "figs" }]) {
    yield { id: payload.item, payload, settled: (outcome) => outcomes.push(`${payload.item} ${outcome}`) };
  }
  done.resolve();
});

const order = v.object({ item: v.string(), count: v.number() });
const sell = handler(order, async ({ item, count }, { message }) => {
  if (count === 0) throw new PermanentError("REJECTED", "nothing to sell");
  console.log(`attempt ${message.attempt}: sold ${count} ${item}`);
});

const shop = defineBridge({
  id: "shop",
  stores: { dlq: memoryDlq({ acknowledge_volatile: true }) },
  routes: { orders: { from: orders, to: sell, policy: { max_in_flight: 1 } } },
});

const soon = AbortSignal.timeout(10_000);
const bridge = await shop.start({ signal: soon });
await done.promise;
await bridge.stop(soon); // lets what is in flight settle
console.log(outcomes.join(", "));
const letters = await bridge.dlq()?.list({}, { limit: 10, offset: 0 }, soon);
for (const { subject, errorCode, lastError } of letters ?? []) console.log(`${subject}: ${errorCode}, ${lastError}`);
await bridge.shutdown();
