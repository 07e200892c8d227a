/**
 * A bridge as a module of NestJS, whose handlers are services. Without decorators, so that Node runs it as it is; with them you
 * write `@Module({ imports: [bridgeModule(…)] })`. `npm start` @module
 */
import { setInterval } from "node:timers/promises";
import { defineBridge } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { handler, source } from "@bridge/transport-function";
import { NestFactory } from "@nestjs/core";
import { bridgeModule, BridgeService } from "./bridge-module.ts";
import { type Order, OrdersService, ordersModule } from "./orders.ts";

/** In a program of yours, `rabbit.queue("orders")` or its like. */
const arriving = source(async function* ({ signal }) {
  for await (const item of setInterval(100, "apple", { signal })) yield { payload: { item } };
});

const shop = bridgeModule({
  imports: [ordersModule],
  inject: [OrdersService],
  define: (orders: OrdersService) =>
    defineBridge({
      id: "shop",
      stores: { dlq: memoryDlq({ acknowledge_volatile: true }) },
      routes: { orders: { from: arriving, to: handler((message) => orders.save(message.json<Order>())) } },
    }),
});

const app = await NestFactory.createApplicationContext(shop, { logger: ["error", "log"] });
app.enableShutdownHooks();
console.log(`${app.get(BridgeService).bridge.instanceId} runs`);
