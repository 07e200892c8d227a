import { createAuditor } from "@bridge/audit";
import { silentLogger, systemClock } from "@bridge/ports";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { createAdminApp } from "../src/index.ts";
import { ADMIN_KEY, startAdmin } from "./admin.ts";
import { deadLetter, keep, makeBridge } from "./bridge.ts";
import { CALLS } from "./calls.ts";

describe("spec 5: authentication", () => {
  it.each(CALLS)("spec 5.3: $method $path needs the admin key", async ({ method, path, body }) => {
    await using admin = await startAdmin({ outbox: true });
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
    expect((await admin.call(method, path, body, bearer)).status).not.toBe(401);
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
