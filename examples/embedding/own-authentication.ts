/** The admin server behind an authentication of your own, with permissions. `pnpm run own-authentication` @module */
import { createAuditor } from "@bridge/audit";
import { defineBridge } from "@bridge/core";
import { type Authenticate, createAdminApp, type Permission } from "@bridge/http-admin";
import { createMonitorApp } from "@bridge/http-monitor";
import { silentLogger, systemClock } from "@bridge/ports";
import { Hono } from "hono";

const bridge = await defineBridge({ id: "guarded", routes: {} }).start({ signal: AbortSignal.timeout(10_000) });

/** Yours: a session, a token of your identity provider, mutual TLS. */
const people: ReadonlyMap<string, readonly Permission[]> = new Map([
  ["ann@shop.example", ["read", "payload.read", "dlq.redrive", "bridge.control"]],
  ["guest@shop.example", ["read"]],
]);
const authenticate: Authenticate = async ({ req }) => {
  const name = req.header("x-forwarded-email") ?? "";
  const permissions = people.get(name);
  return permissions === undefined ? undefined : { name, permissions };
};

const auditor = createAuditor({
  clock: systemClock,
  logger: silentLogger,
  sinks: [{ name: "console", write: ({ action, actor, outcome }) => console.log("audit:", action, actor, outcome) }],
});
const options = { supervisor: () => bridge, auditor, authenticate };
const app = new Hono();
app.route("/bridge", createMonitorApp(options));
app.route("/bridge", createAdminApp(options));

const call = async (method: string, path: string, email?: string): Promise<void> => {
  const headers = email === undefined ? {} : { "X-Forwarded-Email": email };
  const answer = await app.request(`/bridge/api/v1/${path}`, { method, headers });
  console.log(answer.status, answer.ok ? "let in" : await answer.text());
};
await call("GET", "monitor/routes", "guest@shop.example");
await call("POST", "admin/bridge/stop", "guest@shop.example");
await call("POST", "admin/bridge/stop", "ann@shop.example");
await call("POST", "admin/bridge/start");

await bridge.shutdown();
await auditor[Symbol.asyncDispose]();
