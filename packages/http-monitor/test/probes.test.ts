import { READINESS_LEVELS } from "@bridge/core";
import { describe, expect, it } from "vitest";
import { answer, makeBridge, seenAs, startMonitor } from "./monitor.ts";

const signal = (): AbortSignal => AbortSignal.timeout(20_000);
const EMPTY = { routes: [] };

describe("spec 2.1, 4.1: GET /health", () => {
  it("is open, and 200 ok while the runtime runs and no component has failed", async () => {
    const { supervisor } = makeBridge();
    await using monitor = await startMonitor(supervisor);
    await supervisor.start(signal());
    expect(await answer(monitor.get("monitor/health"))).toEqual([200, { status: "ok" }]);
  });

  it("503 unavailable before a runtime is wired: no bridge yet, or one that was never started", async () => {
    await using none = await startMonitor(undefined);
    expect(await answer(none.get("monitor/health"))).toEqual([503, { status: "unavailable" }]);
    await using unstarted = await startMonitor(makeBridge().supervisor);
    expect(await answer(unstarted.get("monitor/health"))).toEqual([503, { status: "unavailable" }]);
  });

  it("503 not_running after a stop", async () => {
    const { supervisor } = makeBridge();
    await using monitor = await startMonitor(supervisor);
    await supervisor.start(signal());
    await supervisor.stop(signal());
    expect(await answer(monitor.get("monitor/health"))).toEqual([503, { status: "not_running" }]);
  });

  it("503 unhealthy when a background component has failed, and not a word more", async () => {
    const { supervisor } = makeBridge();
    await supervisor.start(signal());
    await using monitor = await startMonitor(seenAs(supervisor, { health: "unhealthy" }));
    expect(await answer(monitor.get("monitor/health"))).toEqual([503, { status: "unhealthy" }]);
  });

  it("spec 3.2.5: a broker outage does not change it", async () => {
    const { supervisor, hub } = makeBridge();
    await using monitor = await startMonitor(supervisor);
    await supervisor.start(signal());
    await expect.poll(() => supervisor.view().level).toBe("full");
    hub.link("broker", "source").down();
    await expect.poll(() => supervisor.view().level).toBe("running");
    expect(await answer(monitor.get("monitor/health"))).toEqual([200, { status: "ok" }]);
    expect(await answer(monitor.get("monitor/ready"))).toEqual([503, { error: "not ready" }]);
  });

  it("contract 4: an empty instance is a running runtime", async () => {
    const { supervisor } = makeBridge(EMPTY);
    await using monitor = await startMonitor(supervisor);
    await supervisor.start(signal());
    expect(await answer(monitor.get("monitor/health"))).toEqual([200, { status: "ok" }]);
  });
});

describe("spec 2.1, 4.1: GET /live", () => {
  it("200 alive before the runtime is wired, while it runs, and after a deliberate stop", async () => {
    await using none = await startMonitor(undefined);
    expect(await answer(none.get("monitor/live"))).toEqual([200, { status: "alive" }]);
    const { supervisor } = makeBridge();
    await using monitor = await startMonitor(supervisor);
    await supervisor.start(signal());
    expect(await answer(monitor.get("monitor/live"))).toEqual([200, { status: "alive" }]);
    await supervisor.stop(signal());
    expect(await answer(monitor.get("monitor/live"))).toEqual([200, { status: "alive" }]);
  });

  it("503 terminal once the bridge is beyond recovery", async () => {
    const { supervisor, faults } = makeBridge();
    await using monitor = await startMonitor(supervisor);
    await supervisor.start(signal());
    faults.close = new Error("the socket would not close");
    await expect(supervisor.stop(signal())).rejects.toThrow("would not close");
    await expect(supervisor.start(signal())).rejects.toThrow("could not be stopped");
    expect(await answer(monitor.get("monitor/live"))).toEqual([503, { status: "terminal" }]);
  });
});

describe("spec 2.1, 4.1: GET /ready", () => {
  it("without a level asks for full: 200 with the role, or exactly the error", async () => {
    const { supervisor } = makeBridge();
    await using monitor = await startMonitor(supervisor);
    expect(await answer(monitor.get("monitor/ready"))).toEqual([503, { error: "not ready" }]);
    await supervisor.start(signal());
    await expect
      .poll(async () => answer(monitor.get("monitor/ready")))
      .toEqual([200, { status: "ready", role: "standalone" }]);
    await supervisor.stop(signal());
    expect(await answer(monitor.get("monitor/ready"))).toEqual([503, { error: "not ready" }]);
  });

  it("with a level tells what is achieved and what was asked for", async () => {
    const { supervisor, hub } = makeBridge();
    hub.link("broker", "source").down();
    await using monitor = await startMonitor(supervisor);
    await supervisor.start(signal());
    const facts = { role: "standalone", level: "running" };
    for (const requested of ["live", "running"])
      expect(await answer(monitor.get(`monitor/ready?level=${requested}`))).toEqual([
        200,
        { status: "ready", ...facts, requested },
      ]);
    for (const requested of ["connected", "subscribed", "full"])
      expect(await answer(monitor.get(`monitor/ready?level=${requested}`))).toEqual([
        503,
        { status: "not_ready", ...facts, requested },
      ]);
  });

  it("every level reaches itself and those below", async () => {
    for (const [achievedRank, level] of READINESS_LEVELS.entries()) {
      await using monitor = await startMonitor(seenAs(makeBridge().supervisor, { level }));
      for (const [rank, requested] of READINESS_LEVELS.entries())
        expect((await monitor.get(`monitor/ready?level=${requested}`)).status).toBe(rank <= achievedRank ? 200 : 503);
    }
  });

  it.each(["", "FULL", "warm", "full&level=live"])("spec 7.1: the unknown level %j is 400", async (level) => {
    await using monitor = await startMonitor(makeBridge().supervisor);
    const [status, body] = await answer(monitor.get(`monitor/ready?level=${level}`));
    expect(status).toBe(400);
    expect(body).toEqual({ error: expect.stringContaining("level") as string });
  });

  it("spec 3.2.3: a standby instance answers 503 on the bare probe", async () => {
    const { supervisor } = makeBridge();
    await using monitor = await startMonitor(seenAs(supervisor, { role: "standby", level: "subscribed" }));
    expect(await answer(monitor.get("monitor/ready"))).toEqual([503, { error: "not ready" }]);
    expect(await answer(monitor.get("monitor/ready?level=subscribed"))).toEqual([
      200,
      { status: "ready", role: "standby", level: "subscribed", requested: "subscribed" },
    ]);
  });

  it("spec 3.2.4: an instance without routes and sessions answers 503 on the bare probe, and reaches running", async () => {
    const { supervisor } = makeBridge(EMPTY);
    await using monitor = await startMonitor(supervisor);
    await supervisor.start(signal());
    expect((await monitor.get("monitor/ready")).status).toBe(503);
    expect((await monitor.get("monitor/ready?level=running")).status).toBe(200);
    expect((await monitor.get("monitor/ready?level=connected")).status).toBe(503);
  });

  it("before a bridge is wired the level is live", async () => {
    await using monitor = await startMonitor(undefined);
    expect((await monitor.get("monitor/ready")).status).toBe(503);
    expect(await answer(monitor.get("monitor/ready?level=live"))).toEqual([
      200,
      { status: "ready", role: "standalone", level: "live", requested: "live" },
    ]);
  });
});

describe("spec 4.1: all probes", () => {
  it("set Cache-Control: no-cache, max-age=0 whatever they answer", async () => {
    const { supervisor } = makeBridge();
    await using monitor = await startMonitor(supervisor);
    for (const path of ["health", "live", "ready", "ready?level=live", "ready?level=warm"]) {
      const response = await monitor.get(`monitor/${path}`);
      expect(response.headers.get("Cache-Control")).toBe("no-cache, max-age=0");
      const head = await monitor.get(`monitor/${path}`, undefined, { method: "HEAD" });
      expect([head.status, head.headers.get("Cache-Control")]).toEqual([response.status, "no-cache, max-age=0"]);
    }
  });

  it("spec 5.1: need no credentials, and mind no wrong ones", async () => {
    await using monitor = await startMonitor(makeBridge().supervisor);
    expect((await monitor.get("monitor/live", "wrong")).status).toBe(200);
    expect(monitor.events).toEqual([]);
  });

  it("spec 7.1: another method is 405 with Allow", async () => {
    await using monitor = await startMonitor(makeBridge().supervisor);
    const response = await monitor.get("monitor/health", undefined, { method: "POST" });
    expect([response.status, response.headers.get("Allow")]).toEqual([405, "GET, HEAD"]);
  });
});
