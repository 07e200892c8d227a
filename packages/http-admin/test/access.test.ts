import { createAuditor } from "@bridge/audit";
import { silentLogger, systemClock } from "@bridge/ports";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { createAdminApp } from "../src/index.ts";
import { type Admin, ADMIN_KEY, startAdmin } from "./admin.ts";
import { deadLetter, keep, makeBridge } from "./bridge.ts";

/** Method, path, body and action of every endpoint. */
const CALLS = [
  ["GET", "/bridge", undefined, "bridge.status"],
  ["POST", "/bridge/start", undefined, "bridge.start"],
  ["POST", "/bridge/stop", undefined, "bridge.stop"],
  ["GET", "/routes", undefined, "route.list"],
  ["POST", "/routes/alarms/inject", { subject: "s" }, "route.inject"],
  ["GET", "/dlq", undefined, "dlq.summary"],
  ["GET", "/dlq/messages", undefined, "dlq.list"],
  ["GET", "/dlq/messages/e1", undefined, "dlq.read_payload"],
  ["POST", "/dlq/redrive", { ids: ["e1"] }, "dlq.redrive"],
  ["POST", "/dlq/delete", { ids: ["e1"] }, "dlq.delete"],
  ["POST", "/dlq/delete-by-filter", { route_id: "alarms" }, "dlq.delete_by_filter"],
  ["POST", "/dlq/purge", { confirm_purge_all: true }, "dlq.purge"],
] as const;

function tell(admin: Admin): (readonly [string, string])[] {
  return admin.events.map(({ action, outcome }) => [action, outcome] as const);
}

describe("spec 5: authentication", () => {
  it.each(CALLS)("spec 5.3: %s %s needs the admin key", async (method, path, body) => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1"));
    for (const headers of [
      {},
      { "X-API-Key": "wrong-key-0123456789" },
      { Authorization: "Bearer wrong-key-0123456789" },
    ]) {
      const refused = await admin.call(method, path, body, { headers });
      expect([refused.status, refused.body]).toEqual([401, { error: "invalid or missing API key" }]);
      expect(refused.headers.get("WWW-Authenticate")).toBe('Bearer realm="bridge-admin"');
    }
    const bearer = { headers: { Authorization: `Bearer ${ADMIN_KEY}` } };
    expect((await admin.call(method, path, body, bearer)).status).toBe(200);
  });

  it("spec 5.6: a failure is recorded with the peer as actor, and over the limit it is 429", async () => {
    await using admin = await startAdmin({ throttle: { limit: 1 } });
    const init = { headers: { "X-API-Key": "wrong-key-0123456789", "X-Forwarded-For": "203.0.113.9, 10.0.0.1" } };
    expect((await admin.call("GET", "/bridge", undefined, init)).status).toBe(401);
    const throttled = await admin.call("GET", "/bridge", undefined, init);
    expect([throttled.status, throttled.body]).toEqual([429, { error: "too many failed authentication attempts" }]);
    expect(Number(throttled.headers.get("Retry-After"))).toBeGreaterThan(0);
    expect(admin.events).toEqual(
      ["auth.failure", "auth.throttled"].map((action) => ({
        timestamp: expect.any(String) as string,
        action,
        actor: "127.0.0.1",
        resource_type: "admin",
        resource_id: "",
        outcome: "failure",
        detail: { client_addr: "203.0.113.9" },
      })),
    );
  });

  it("spec 5.7: the actor is the name of the key: admin for a single one, else its own", async () => {
    const keys = {
      adminApiKey: ADMIN_KEY,
      adminApiKeys: { alice: "alice-key-0123456789", "ci.bot": "ci-key-0123456789" },
    };
    await using admin = await startAdmin({ keys });
    for (const key of [ADMIN_KEY, ...Object.values(keys.adminApiKeys)])
      await admin.call("GET", "/bridge", undefined, { headers: { "X-API-Key": key } });
    expect(admin.events.map(({ actor }) => actor)).toEqual(["admin", "alice", "ci.bot"]);
  });

  it.each([
    [{}, "needs a key"],
    [{ adminApiKey: "" }, "needs a key"],
    [{ adminApiKeys: {} }, "needs a key"],
    [{ adminApiKey: "fifteen-charact" }, "too short"],
    [{ adminApiKeys: { alice: "short" } }, "too short"],
    [{ adminApiKeys: { Alice: ADMIN_KEY } }, "is invalid"],
    [{ adminApiKeys: { admin: ADMIN_KEY } }, "is reserved"],
  ])("spec 5.4: the app is not made with the keys %j", async (keys, error) => {
    await expect(startAdmin({ keys, started: false })).rejects.toThrow(error);
  });

  it("spec 5.8: the origin * is refused", async () => {
    await expect(startAdmin({ corsOrigins: ["*"], started: false })).rejects.toThrow("CORS origin");
  });
});

describe("spec 6: audit", () => {
  it.each(CALLS)("%s %s is recorded as its action", async (method, path, body, action) => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1"));
    expect((await admin.call(method, path, body)).status).toBe(200);
    expect(admin.events.at(-1)).toMatchObject({
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      action,
      actor: "admin",
      resource_type: action.split(".")[0],
      outcome: "success",
      detail: { client_addr: "127.0.0.1" },
    });
    expect(admin.events).toHaveLength(action === "dlq.redrive" ? 2 : 1);
  });

  it("the resource is the instance, the route or the entry that the path names", async () => {
    await using admin = await startAdmin();
    await admin.call("GET", "/bridge");
    await admin.call("POST", "/routes/nothing/inject", { subject: "s" });
    await admin.call("GET", "/dlq/messages/e1");
    await admin.call("GET", "/dlq");
    expect(admin.events.map((event) => event.resource_id)).toEqual(["plant-7-a", "nothing", "e1", ""]);
  });

  it("contract 6: 4xx and 5xx after authentication are the action with outcome failure", async () => {
    await using admin = await startAdmin();
    await admin.call("POST", "/routes/nothing/inject", { subject: "s" });
    await admin.call("GET", "/dlq/messages?limit=0");
    await admin.call("GET", "/dlq/messages/nothing");
    await admin.call("POST", "/dlq/purge", "x".repeat(2_000_000));
    await admin.call("GET", "/bridge/stop");
    await admin.call("POST", "/bridge/stop");
    await admin.call("POST", "/dlq/redrive", { ids: ["e1"] });
    expect(tell(admin)).toEqual([
      ["route.inject", "failure"],
      ["dlq.list", "failure"],
      ["dlq.read_payload", "failure"],
      ["dlq.purge", "failure"],
      ["bridge.stop", "failure"],
      ["bridge.stop", "success"],
      ["dlq.redrive", "failure"],
    ]);
  });

  it("an unknown path has no action, and is not recorded", async () => {
    await using admin = await startAdmin();
    expect((await admin.call("GET", "/nothing")).status).toBe(404);
    expect(admin.events).toEqual([]);
  });

  it("contract 6: reading the OpenAPI document is api.describe", async () => {
    await using admin = await startAdmin();
    const get = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${admin.url}/api/v1/openapi.json`, { headers });
    expect((await get({})).status).toBe(401);
    expect((await get({ "X-API-Key": ADMIN_KEY })).status).toBe(200);
    expect(admin.events.at(-1)).toMatchObject({ action: "api.describe", resource_type: "api", outcome: "success" });
  });

  it("no record holds a payload, a key, a header value or a body", async () => {
    await using admin = await startAdmin();
    const canary = "canary-0123456789";
    const payload = Buffer.from(canary).toString("base64");
    await admin.call("POST", "/routes/alarms/inject", { subject: canary, payload, headers: { a: canary } });
    await admin.call("POST", "/routes/alarms/inject", {
      subject: canary,
      payload: `${canary}!`,
      headers: { a: [canary] },
    });
    await admin.call("POST", "/dlq/purge", { confirm_purge_all: canary });
    await admin.call("GET", "/bridge", undefined, { headers: { "X-API-Key": canary, "X-Correlation-ID": canary } });
    const { envelope } = deadLetter("e1");
    await keep(admin, deadLetter("e1", { subject: canary, envelope: { ...envelope, headers: { a: canary } } }));
    await admin.call("GET", "/dlq/messages/e1");
    await admin.call("POST", "/dlq/redrive", { ids: ["e1"] });
    expect(admin.events.length).toBeGreaterThan(6);
    for (const secret of [canary, payload, ADMIN_KEY]) expect(JSON.stringify(admin.events)).not.toContain(secret);
    expect(admin.errors).toEqual([]);
  });

  it("a sink that fails fails no request", async () => {
    const auditor = createAuditor({
      clock: systemClock,
      logger: silentLogger,
      sinks: [{ name: "broken", write: () => Promise.reject(new Error("no disk")) }],
    });
    await using admin = await startAdmin({ auditor });
    expect((await admin.call("GET", "/bridge")).status).toBe(200);
    expect(auditor.failures().get("broken")).toBe(1);
    await auditor[Symbol.asyncDispose]();
  });
});

describe("spec 9.1: versioning", () => {
  it("all paths carry the prefix /api/v1/", async () => {
    await using admin = await startAdmin();
    for (const path of ["/admin/bridge", "/api/admin/bridge", "/api/v2/admin/bridge"])
      expect((await fetch(admin.url + path, { headers: { "X-API-Key": ADMIN_KEY } })).status).toBe(404);
  });
});

describe("mounted in another app", () => {
  it("works below any path, and leaves the rest alone", async () => {
    const { supervisor } = makeBridge();
    await using auditor = createAuditor({ clock: systemClock, logger: silentLogger });
    const app = createAdminApp({ supervisor: () => supervisor, keys: { adminApiKey: ADMIN_KEY }, auditor });
    const outer = new Hono().route("/bridge", app).get("/", (context) => context.text("mine"));
    const headers = { "X-API-Key": ADMIN_KEY };
    expect(await (await outer.request("/")).text()).toBe("mine");
    expect((await outer.request("/bridge/api/v1/admin/bridge/start", { method: "POST", headers })).status).toBe(200);
    expect(await (await outer.request("/bridge/api/v1/admin/bridge", { headers })).json()).toMatchObject({
      running: true,
    });
    expect((await outer.request("/bridge/api/v1/admin/bridge")).status).toBe(401);
    await supervisor.shutdown();
  });
});
