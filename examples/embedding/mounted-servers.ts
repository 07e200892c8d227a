/** Both servers inside a hono app of yours. `pnpm run mounted-servers` @module */
import { createAuditor } from "@bridge/audit";
import { defineBridge } from "@bridge/core";
import { createAdminApp } from "@bridge/http-admin";
import { createMonitorApp } from "@bridge/http-monitor";
import { silentLogger, systemClock } from "@bridge/ports";
import { Hono } from "hono";

const bridge = await defineBridge({ id: "mounted", routes: {} }).start({ signal: AbortSignal.timeout(10_000) });

const auditor = createAuditor({
  clock: systemClock,
  logger: silentLogger,
  sinks: [{ name: "console", write: ({ action, actor, outcome }) => console.log("audit:", action, actor, outcome) }],
});
const supervisor = () => bridge;
const adminApiKeys = { alice: "alice-has-a-long-key", deploy: "deploy-has-another-one" };

const app = new Hono();
app.get("/", (context) => context.text("my own page"));
app.route(
  "/bridge",
  createMonitorApp({ supervisor, auditor, keys: { adminApiKeys, monitorApiKey: "monitor-key-0001" } }),
);
app.route("/bridge", createAdminApp({ supervisor, auditor, keys: { adminApiKeys } }));

const health = await app.request("/bridge/api/v1/monitor/health");
console.log(health.status, await health.text());
const headers = { "X-API-Key": adminApiKeys.alice };
const info = await app.request("/bridge/api/v1/admin/bridge", { headers });
console.log(info.status, ((await info.json()) as { running: boolean }).running);
for (const server of ["monitor", "admin"]) {
  const described = await app.request(`/bridge/api/v1/${server}/openapi.json`, { headers });
  console.log(((await described.json()) as { info: { title: string } }).info.title);
}

await bridge.shutdown();
await auditor[Symbol.asyncDispose]();
