import { defineBridge, type RouteDefinition } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { filter } from "@bridge/processors";

/**
 * The bridge of a shop between any two ends. A program gives it `rabbit.queue("orders")` and `http({ url }).at("/orders")`, a
 * test two channels in memory.
 */
export function shop(from: RouteDefinition["from"], to: RouteDefinition["to"]) {
  return defineBridge({
    id: "shop",
    stores: { dlq: memoryDlq({ acknowledge_volatile: true }) },
    routes: {
      orders: {
        from,
        processors: [filter({ drop: { field: "header.test", op: "exists" } })],
        to,
        policy: { max_replay_attempts: 3, backoff: { initial_interval: "10s" } },
      },
    },
  });
}
