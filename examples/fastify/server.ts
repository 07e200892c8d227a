/** A bridge inside a fastify server: a request becomes a message, and is answered when it was delivered. `npm start` @module */
import { env } from "node:process";
import { defineBridge } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { handler, PermanentError } from "@bridge/transport-function";
import { memory } from "@bridge/transport-memory";
import fastify from "fastify";

interface Order {
  readonly item: string;
  readonly count: number;
}

const sold = new Map<string, number>();
const inside = memory();
const shop = defineBridge({
  id: "shop",
  stores: { dlq: memoryDlq({ acknowledge_volatile: true }) },
  routes: {
    orders: {
      from: inside.channel("orders"),
      to: handler((message) => {
        const { item, count } = message.json<Order>();
        if (count <= 0) throw new PermanentError("REJECTED", "nothing to sell");
        sold.set(item, (sold.get(item) ?? 0) + count);
      }),
    },
  },
});

const bridge = await shop.start();
const app = fastify();
app.addHook("onClose", () => bridge.shutdown());
app.get("/sold", () => Object.fromEntries(sold));
app.get("/ready", (_request, reply) => reply.code(bridge.view().level === "full" ? 200 : 503).send());

const schema = {
  body: {
    type: "object",
    required: ["item", "count"],
    properties: { item: { type: "string" }, count: { type: "integer" } },
  },
} as const;
app.post<{ Body: Order }>("/orders", { schema }, async ({ body: { item, count }, id }, reply) => {
  const result = await bridge.inject("orders", { id, payload: { item, count } });
  return reply.code(result.outcome === "delivered" ? 200 : 422).send({ outcome: result.outcome });
});

console.log(await app.listen({ host: "127.0.0.1", port: Number(env["PORT"] ?? 3000) }));
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void app.close());
