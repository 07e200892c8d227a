import { BridgeError } from "@bridge/ports";
import { describe, expect, it } from "vitest";
import { ADMIN_KEY, startAdmin } from "./admin.ts";

describe("spec 2.5: bridge info", () => {
  it("contract 2: GET /bridge names the instance and counts its routes, also while stopped", async () => {
    await using admin = await startAdmin();
    const info = { instance_id: "plant-7-a", running: true, routes: 5 };
    expect(await admin.call("GET", "/bridge")).toMatchObject({ status: 200, body: info });
    await admin.call("POST", "/bridge/stop");
    expect((await admin.call("GET", "/bridge")).body).toEqual({ ...info, running: false });
  });
});

describe("spec 2.4: admin routes", () => {
  it("are wrapped in the routes object, also while stopped", async () => {
    await using admin = await startAdmin({ started: false });
    const { status, body } = await admin.call("GET", "/routes");
    expect(status).toBe(200);
    const { routes } = body as { routes: unknown[] };
    expect(routes).toHaveLength(5);
    expect(routes.slice(0, 2)).toEqual([
      { id: "alarms", delivery_mode: "direct_hold", dispatch_mode: "single", max_in_flight: 100 },
      { id: "fan", delivery_mode: "direct_hold", dispatch_mode: "fan_out", max_in_flight: 100 },
    ]);
  });
});

describe("contract 2: POST /bridge/start", () => {
  it("starts a fresh runtime", async () => {
    await using admin = await startAdmin({ started: false });
    expect(await admin.call("POST", "/bridge/start")).toMatchObject({ status: 200, body: { status: "started" } });
    expect(admin.supervisor.view().running).toBe(true);
    admin.hub.publish("alarms", { payload: "x" });
    await admin.hub.channel("out").waitForMessages(1, AbortSignal.timeout(10_000));
  });

  it("answers the same when it runs already, and rebuilds nothing", async () => {
    await using admin = await startAdmin();
    const built = admin.built();
    expect(await admin.call("POST", "/bridge/start")).toMatchObject({ status: 200, body: { status: "started" } });
    expect(admin.built()).toBe(built);
  });

  it("is 409 naming the cause when it cannot start", async () => {
    await using admin = await startAdmin({ started: false });
    admin.hub.channel("alarms").opens.failNext(1, new BridgeError("UNAVAILABLE", "the port is taken"));
    const { status, body } = await admin.call("POST", "/bridge/start");
    expect([status, body]).toEqual([409, { error: "the bridge cannot start: the port is taken" }]);
    expect(admin.events.at(-1)).toMatchObject({
      action: "bridge.start",
      outcome: "failure",
      detail: { status: 409, error: "the bridge cannot start: the port is taken" },
    });
    expect((await admin.call("POST", "/bridge/start")).status).toBe(200);
  });

  it("past the operation timeout it is 500; the start goes on and a later call joins it", async () => {
    await using admin = await startAdmin({ started: false, operationTimeoutMs: 50 });
    const held = admin.hub.channel("alarms").opens.hold();
    const { status, body } = await admin.call("POST", "/bridge/start");
    expect([status, body]).toEqual([500, { error: expect.stringMatching(/goes on.*after 0.05 s/) as string }]);
    held[Symbol.dispose]();
    await expect.poll(async () => (await admin.call("POST", "/bridge/start")).status).toBe(200);
    expect(admin.supervisor.state().kind).toBe("running");
  });
});

describe("contract 2: POST /bridge/stop", () => {
  it("stops, and is idempotent", async () => {
    await using admin = await startAdmin();
    for (let n = 0; n < 2; n++)
      expect(await admin.call("POST", "/bridge/stop")).toMatchObject({ status: 200, body: { status: "stopped" } });
    expect(admin.supervisor.state().kind).toBe("paused");
  });

  it("spec 3.1: a start after a stop gives a fresh runtime", async () => {
    await using admin = await startAdmin();
    const built = admin.built();
    await admin.call("POST", "/bridge/stop");
    expect((await admin.call("POST", "/bridge/start")).status).toBe(200);
    expect(admin.built()).toBe(2 * built);
    admin.hub.publish("alarms", { payload: "x" });
    await admin.hub.channel("out").waitForMessages(1, AbortSignal.timeout(10_000));
  });

  it("is 500 naming the phase when it failed, and a later call is told the same", async () => {
    await using admin = await startAdmin();
    admin.faults.close = new Error("the socket would not close");
    for (let n = 0; n < 2; n++) {
      const { status, body } = await admin.call("POST", "/bridge/stop");
      expect(status).toBe(500);
      expect(body).toEqual({
        error: expect.stringContaining("receiver alarms (the socket would not close)") as string,
      });
    }
    expect((await admin.call("POST", "/bridge/start")).status).toBe(409);
  });

  it("past the operation timeout it is 500; the work goes on and a later call joins it", async () => {
    await using admin = await startAdmin({ operationTimeoutMs: 50 });
    const out = admin.hub.channel("out");
    const held = out.sends.hold();
    admin.hub.publish("alarms", { payload: "x" });
    await out.until(({ sends }) => sends.held === 1, AbortSignal.timeout(10_000));
    const { status, body } = await admin.call("POST", "/bridge/stop");
    expect([status, body]).toEqual([
      500,
      { error: "the stop goes on, and a later call joins it: still in quiesce after 0.05 s" },
    ]);
    expect(admin.events.at(-1)).toMatchObject({ action: "bridge.stop", outcome: "failure" });
    held[Symbol.dispose]();
    await expect.poll(async () => (await admin.call("POST", "/bridge/stop")).status).toBe(200);
  });
});

describe("before the process has a bridge", () => {
  it("everything but the document is 503", async () => {
    await using admin = await startAdmin({ seenAs: () => undefined });
    for (const path of ["/bridge", "/routes", "/dlq", "/dlq/messages", "/dlq/messages/x"])
      expect(await admin.call("GET", path)).toMatchObject({ status: 503, body: { error: "runtime not available" } });
    for (const path of ["/bridge/start", "/bridge/stop", "/routes/alarms/inject", "/dlq/redrive", "/dlq/purge"])
      expect((await admin.call("POST", path, {})).status).toBe(503);
    const document = await fetch(`${admin.url}/api/v1/openapi.json`, { headers: { "X-API-Key": ADMIN_KEY } });
    expect(document.status).toBe(200);
  });
});

describe("contract 2: config endpoints", () => {
  it("do not exist without a transaction manager", async () => {
    await using admin = await startAdmin();
    expect(await admin.call("GET", "/config")).toMatchObject({ status: 404, body: { error: "not found" } });
    expect((await admin.call("POST", "/config/transactions", {})).status).toBe(404);
  });
});
