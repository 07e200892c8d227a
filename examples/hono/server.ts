/** A bridge and its two servers inside a hono app of yours. `npm start` @module */
import { env } from "node:process";
import { createAuditor } from "@bridge/audit";
import { defineBridge } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { createAdminApp } from "@bridge/http-admin";
import { createMonitorApp } from "@bridge/http-monitor";
import { silentLogger, systemClock } from "@bridge/ports";
import { handler, source } from "@bridge/transport-function";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { setInterval } from "node:timers/promises";

const ticks = source(async function* ({ signal }) {
  for await (const _ of setInterval(100, undefined, { signal })) yield { payload: { at: Date.now() } };
});
let latest = 0;
const ticker = defineBridge({
  id: "ticker",
  stores: { dlq: memoryDlq({ acknowledge_volatile: true }) },
  routes: { ticks: { from: ticks, to: handler((message) => (latest = message.json<{ at: number }>().at)) } },
});

const running = ticker.run(); // until SIGTERM or SIGINT
const bridge = await ticker.start(); // the one that runs

const auditor = createAuditor({ clock: systemClock, logger: silentLogger, sinks: [] });
const keys = { adminApiKeys: { alice: env["ADMIN_KEY"] ?? "alice-has-a-long-key" } };
const supervisor = () => bridge;

const app = new Hono();
app.get("/", (context) => context.json({ latest }));
app.route("/watch", createMonitorApp({ supervisor, auditor, keys }));
app.route("/manage", createAdminApp({ supervisor, auditor, keys }));

const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(env["PORT"] ?? 3000) }, ({ port }) =>
  console.log(`http://127.0.0.1:${port}`),
);
await running;
server.close();
await auditor[Symbol.asyncDispose]();
console.log("stopped");
