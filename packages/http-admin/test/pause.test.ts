import { describe, expect, it } from "vitest";
import { startAdmin } from "./admin.ts";

describe("pausing a route", () => {
  it("refuses injects with 409 until it is resumed, and shows in the list of routes", async () => {
    await using admin = await startAdmin();
    expect(await admin.call("POST", "/routes/alarms/pause")).toMatchObject({ status: 200, body: { status: "paused" } });
    expect(await admin.call("POST", "/routes/alarms/inject", { subject: "s" })).toMatchObject({
      status: 409,
      body: { error: "the route is paused: resume it first" },
    });
    const listed = async (): Promise<unknown> => {
      const { body } = await admin.call("GET", "/routes");
      return (body as { routes: { id: string; paused?: boolean }[] }).routes.find(({ id }) => id === "alarms")?.paused;
    };
    expect(await listed()).toBe(true);
    expect(await admin.call("POST", "/routes/alarms/resume")).toMatchObject({
      status: 200,
      body: { status: "resumed" },
    });
    expect((await admin.call("POST", "/routes/alarms/inject", { subject: "s" })).status).toBe(200);
    expect(await listed()).toBeUndefined();
  });

  it("is audited with the route's id, refused calls too", async () => {
    await using admin = await startAdmin();
    await admin.call("POST", "/routes/alarms/pause");
    await admin.call("POST", "/routes/other/resume");
    expect(admin.done()).toMatchObject([
      { action: "route.pause", resource_type: "route", resource_id: "alarms", outcome: "success" },
      { action: "route.resume", resource_type: "route", resource_id: "other", outcome: "failure" },
    ]);
  });

  it("works while the bridge is stopped, for its next start", async () => {
    await using admin = await startAdmin();
    await admin.call("POST", "/bridge/stop");
    await admin.call("POST", "/routes/alarms/pause");
    await admin.call("POST", "/bridge/start");
    expect((await admin.call("POST", "/routes/alarms/inject", { subject: "s" })).status).toBe(409);
  });
});
