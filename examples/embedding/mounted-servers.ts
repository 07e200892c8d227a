/** Both servers inside a hono app of yours. `pnpm run mounted-servers` @module */
import { createAuditor } from "@bridge/audit";
import { defineBridge } from "@bridge/core";
import { createAdminApp } from "@bridge/http-admin";
import { createMonitorApp } from "@bridge/http-monitor";
import { silentLogger, systemClock } from "@bridge/ports";
import { Hono } from "hono";

const bridge = await defineBridge({ id: "mounted", routes: {} }).start({ signal: AbortSignal.timeout(10_000) });

await using auditor = createAuditor({
  clock: systemClock,
  logger: silentLogger,
  sinks: [{ name: "console", write: ({ action, actor, outcome }) => console.log("audit:", action, actor, outcome) }],
});
const supervisor = () => bridge;
const adminApiKeys = { alice: "alice-has-a-long-key", deploy: "deploy-has-another-one" };

const app = new Hono();
app.get("/", (context) => context.text("my own page"));
app.route(
  "/watch",
  createMonitorApp({ supervisor, auditor, keys: { adminApiKeys, monitorApiKey: "monitor-key-0001" } }),
);
app.route("/manage", createAdminApp({ supervisor, auditor, keys: { adminApiKeys } }));

const health = await app.request("/watch/api/v1/monitor/health");
console.log(health.status, await health.text());
const info = await app.request("/manage/api/v1/admin/bridge", { headers: { "X-API-Key": adminApiKeys.alice } });
console.log(info.status, ((await info.json()) as { running: boolean }).running);

await bridge.shutdown();
