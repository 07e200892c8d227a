/** A bridge with one route, and its two servers as a listener for frameworks on node's `http`. @module */
import { createAuditor } from "@bridge/audit";
import { defineBridge } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { createAdminApp } from "@bridge/http-admin";
import { createMonitorApp } from "@bridge/http-monitor";
import { silentLogger, systemClock } from "@bridge/ports";
import { handler } from "@bridge/transport-function";
import { memory } from "@bridge/transport-memory";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";

export const bridge = await defineBridge({
  id: "mounted",
  stores: { dlq: memoryDlq({ acknowledge_volatile: true }) },
  routes: { orders: { from: memory().channel("orders"), to: handler((message) => console.log(message.text())) } },
}).start();

const auditor = createAuditor({ clock: systemClock, logger: silentLogger, sinks: [] });
const keys = { adminApiKeys: { alice: "alice-has-a-long-key" } };
const servers = { supervisor: () => bridge, auditor, keys };

/** Answers what is below `prefix`. It leaves the global `Request` and `Response` as they are. */
export function bridgeListener(prefix = "/") {
  const app = new Hono().route(prefix, createMonitorApp(servers)).route(prefix, createAdminApp(servers));
  return getRequestListener(app.fetch, { overrideGlobalObjects: false });
}
