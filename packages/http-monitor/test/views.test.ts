import { createAuditor } from "@bridge/audit";
import { silentLogger, type StoreHealth, systemClock } from "@bridge/ports";
import { Slices } from "@bridge/ports/internal";
import { describe, expect, it } from "vitest";
import { topologyToWire } from "../src/wire.ts";
import { ADMIN_KEY, answer, makeBridge, MONITOR_KEY, seenAs, startMonitor } from "./monitor.ts";

const signal = (): AbortSignal => AbortSignal.timeout(20_000);
const VIEWS = ["topology", "routes", "deephealth", "metrics"];

describe("spec 2.2: topology", () => {
  it("names the instance and its routes, running or stopped", async () => {
    const { supervisor } = makeBridge();
    await using monitor = await startMonitor(supervisor);
    const topology = {
      instance_id: "plant-7-a",
      running: true,
      config_version: 4,
      routes: [{ id: "alarms", delivery_mode: "direct_hold", dispatch_mode: "single" }],
    };
    await supervisor.start(signal());
    expect(await answer(monitor.get("monitor/topology", MONITOR_KEY))).toEqual([200, topology]);
    await supervisor.stop(signal());
    expect(await answer(monitor.get("monitor/topology", MONITOR_KEY))).toEqual([200, { ...topology, running: false }]);
  });
});

describe("spec 2.3: routes with their policies", () => {
  it("has every field of the policy", async () => {
    await using monitor = await startMonitor(makeBridge().supervisor);
    expect(await answer(monitor.get("monitor/routes", MONITOR_KEY))).toEqual([
      200,
      {
        routes: [
          {
            id: "alarms",
            delivery_mode: "direct_hold",
            dispatch_mode: "single",
            max_in_flight: 7,
            max_replay: 3,
            ack_after: "target_accept",
            on_expired: "drop",
            on_perm_failure: "dlq",
            on_filtered: "drop",
          },
        ],
      },
    ]);
  });
});

describe("spec 2.6: deep health", () => {
  const ready = {
    running: true,
    healthy: true,
    instance_id: "plant-7-a",
    config_version: 4,
    role: "standalone",
    ready_for_traffic: true,
    empty: false,
    service_level: "full",
    level: "full",
    sessions: [
      {
        session_id: "broker",
        connected: true,
        has_lease: false,
        subscriptions_wanted: 1,
        subscriptions_active: 1,
        ready: true,
        service_level: "full",
      },
    ],
    routes: [
      {
        id: "alarms",
        delivery_mode: "direct_hold",
        progress: "idle",
        since: expect.any(String) as string,
        oldest_unsettled_seconds: 0,
      },
    ],
    stores: [{ role: "dlq", type: "memory", state: "up", since: expect.any(String) as string, open: true }],
  };

  it("200 with the full object when ready for traffic", async () => {
    const { supervisor } = makeBridge();
    await using monitor = await startMonitor(supervisor);
    await supervisor.start(signal());
    await expect.poll(async () => answer(monitor.get("monitor/deephealth", MONITOR_KEY))).toEqual([200, ready]);
  });

  it("contract 4: 503 with the full object otherwise: a session away, stopped, and not wired", async () => {
    const { supervisor, hub } = makeBridge();
    hub.link("broker", "source").down();
    await using monitor = await startMonitor(supervisor);
    await supervisor.start(signal());
    const away = { connected: false, subscriptions_active: 0, ready: false, service_level: "none" };
    expect(await answer(monitor.get("monitor/deephealth", MONITOR_KEY))).toEqual([
      503,
      {
        ...ready,
        ready_for_traffic: false,
        service_level: "none",
        level: "running",
        sessions: [{ ...ready.sessions[0], ...away }],
        routes: [
          {
            ...ready.routes[0],
            progress: "waiting",
            reason: expect.stringContaining("session broker (source) is not connected") as string,
          },
        ],
      },
    ]);
    await supervisor.stop(signal());
    const [status, stopped] = await answer(monitor.get("monitor/deephealth", MONITOR_KEY));
    expect([status, Object.keys(stopped as object)]).toEqual([503, Object.keys(ready)]);
    expect(stopped).toMatchObject({ running: false, healthy: false, ready_for_traffic: false, level: "live" });

    await using unwired = await startMonitor(undefined);
    const [unwiredStatus, unwiredBody] = await answer(unwired.get("monitor/deephealth", MONITOR_KEY));
    expect([unwiredStatus, Object.keys(unwiredBody as object)]).toEqual([503, Object.keys(ready)]);
  });

  it("a store says why it takes no writes, and which files it has set aside, which costs the level full", async () => {
    const { supervisor } = makeBridge();
    await using monitor = await startMonitor(supervisor);
    await supervisor.start(signal());
    await expect.poll(async () => (await monitor.get("monitor/deephealth", MONITOR_KEY)).status).toBe(200);
    const health: StoreHealth = {
      fault: "/data/dlq.db: the disk is full",
      setAside: ["/data/dlq.db.damaged-1"],
      spoiled: 2,
    };
    Object.assign(supervisor.dlq() ?? {}, { health: () => health });
    expect(await answer(monitor.get("monitor/deephealth", MONITOR_KEY))).toEqual([
      503,
      {
        ...ready,
        level: "subscribed",
        ready_for_traffic: false,
        stores: [{ ...ready.stores[0], state: "faulty", fault: health.fault, set_aside: health.setAside, spoiled: 2 }],
      },
    ]);
    const metrics = await (await monitor.get("monitor/metrics", MONITOR_KEY)).text();
    expect(metrics).toContain('bridge_store_writable{store="dlq"} 0\n');
    expect(metrics).toContain('bridge_store_set_aside_files{store="dlq"} 1\n');
  });

  it("an empty instance never reports ready_for_traffic", async () => {
    const { supervisor } = makeBridge({ routes: [] });
    await using monitor = await startMonitor(supervisor);
    await supervisor.start(signal());
    const [status, body] = await answer(monitor.get("monitor/deephealth", MONITOR_KEY));
    expect(status).toBe(503);
    expect(body).toMatchObject({ empty: true, ready_for_traffic: false, level: "running", running: true });
  });

  it("a standby instance is not ready for traffic", async () => {
    const { supervisor } = makeBridge();
    await using monitor = await startMonitor(seenAs(supervisor, { role: "standby", level: "subscribed" }));
    const [status, body] = await answer(monitor.get("monitor/deephealth", MONITOR_KEY));
    expect([status, body]).toEqual([503, expect.objectContaining({ role: "standby", ready_for_traffic: false })]);
  });

  it("contract 4: config_watch is there only when a source is watched, with what is known of it", async () => {
    await using minimal = await startMonitor(makeBridge().supervisor, {
      configWatch: () => ({ source: "bridge.yaml", version: 4 }),
    });
    const watchOf = async (body: Promise<[number, unknown]>): Promise<unknown> =>
      ((await body)[1] as { config_watch?: unknown }).config_watch;
    expect(await watchOf(answer(minimal.get("monitor/deephealth", MONITOR_KEY)))).toEqual({
      source: "bridge.yaml",
      version: 4,
    });
    await using full = await startMonitor(makeBridge().supervisor, {
      configWatch: () => ({
        source: "bridge.yaml",
        version: 5,
        lastReloadAt: Date.UTC(2026, 0, 2),
        lastError: "routes[0].id: must not be empty",
        restartRequired: "http",
        staged: { version: 6, by: "plant-7-b", at: Date.UTC(2026, 0, 3), until: Date.UTC(2026, 0, 4) },
      }),
    });
    expect(await watchOf(answer(full.get("monitor/deephealth", MONITOR_KEY)))).toEqual({
      source: "bridge.yaml",
      version: 5,
      last_reload_at: "2026-01-02T00:00:00.000Z",
      last_error: "routes[0].id: must not be empty",
      restart_required: "http",
      staged: {
        version: 6,
        instance_id: "plant-7-b",
        since: "2026-01-03T00:00:00.000Z",
        confirm_by: "2026-01-04T00:00:00.000Z",
      },
    });
  });

  it("tells of keys that are read again, and why they could not be", async () => {
    const lastRefreshAt = Date.UTC(2026, 0, 2);
    await using server = await startMonitor(makeBridge().supervisor, {
      keyRefresh: () => ({ lastRefreshAt, failures: 3, lastError: "access is denied" }),
    });
    const [, body] = await answer(server.get("monitor/deephealth", MONITOR_KEY));
    expect(body).toMatchObject({
      api_keys: { last_refresh_at: "2026-01-02T00:00:00.000Z", failures: 3, last_error: "access is denied" },
    });
  });
});

describe("contract 4: GET /metrics", () => {
  it("is Prometheus text of the running bridge", async () => {
    const { supervisor, hub } = makeBridge();
    await using monitor = await startMonitor(supervisor);
    await supervisor.start(signal());
    hub.publish("in", { payload: "x" });
    await hub.channel("out").waitForMessages(1, signal());
    await expect
      .poll(async () => (await monitor.get("monitor/metrics", MONITOR_KEY)).text())
      .toContain('bridge_legs_total{route="alarms",binding="to-out",disposition="delivered"} 1');
    const { headers } = await monitor.get("monitor/metrics", MONITOR_KEY);
    expect(headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  });

  it("is empty before a bridge is wired, and whatever the host gives instead", async () => {
    await using unwired = await startMonitor(undefined);
    expect(await (await unwired.get("monitor/metrics", MONITOR_KEY)).text()).toBe("");
    await using own = await startMonitor(undefined, { metrics: () => "up 1\n" });
    expect(await (await own.get("monitor/metrics", MONITOR_KEY)).text()).toBe("up 1\n");
  });
});

describe("spec 5: who may look", () => {
  it("spec 5.2: the monitor key and every admin key, nobody else", async () => {
    await using monitor = await startMonitor(makeBridge().supervisor, {
      keys: { monitorApiKey: MONITOR_KEY, adminApiKeys: { alice: ADMIN_KEY } },
      throttle: { limit: 100 },
    });
    for (const view of VIEWS) {
      for (const key of [MONITOR_KEY, ADMIN_KEY])
        expect((await monitor.get(`monitor/${view}`, key)).status).not.toBe(401);
      const bearer = { headers: { Authorization: `Bearer ${MONITOR_KEY}` } };
      expect((await monitor.get(`monitor/${view}`, undefined, bearer)).status).not.toBe(401);
      for (const key of [undefined, "", "wrong-key-0123456789"])
        expect(await answer(monitor.get(`monitor/${view}`, key))).toEqual([
          401,
          { error: "invalid or missing API key" },
        ]);
    }
  });

  it("spec 5.2: without a monitor key the admin key is enough", async () => {
    await using monitor = await startMonitor(makeBridge().supervisor, { keys: { adminApiKey: ADMIN_KEY } });
    expect((await monitor.get("monitor/topology", ADMIN_KEY)).status).toBe(200);
    expect((await monitor.get("monitor/topology", MONITOR_KEY)).status).toBe(401);
  });

  it("one key for both is no error", async () => {
    await using monitor = await startMonitor(makeBridge().supervisor, {
      keys: { monitorApiKey: ADMIN_KEY, adminApiKey: ADMIN_KEY },
    });
    expect((await monitor.get("monitor/topology", ADMIN_KEY)).status).toBe(200);
  });

  it("without any key the views are closed to all, and the probes open", async () => {
    await using monitor = await startMonitor(makeBridge().supervisor, {
      keys: { monitorApiKey: "", adminApiKey: "" },
      throttle: { limit: 100 },
    });
    for (const view of VIEWS)
      for (const key of [undefined, "", MONITOR_KEY])
        expect((await monitor.get(`monitor/${view}`, key)).status).toBe(401);
    expect((await monitor.get("monitor/live")).status).toBe(200);
  });

  it("contract 3: a monitor key has at least 16 characters", async () => {
    await expect(startMonitor(undefined, { keys: { monitorApiKey: "short" } })).rejects.toThrow(
      'the API key "monitor" is too short',
    );
  });

  it("spec 5.9: 401 names the realm bridge-monitor; failures are recorded with resource_type monitor", async () => {
    await using monitor = await startMonitor(makeBridge().supervisor, { throttle: { limit: 1 } });
    const refused = await monitor.get("monitor/topology", "wrong-key-0123456789");
    expect(refused.headers.get("WWW-Authenticate")).toBe('Bearer realm="bridge-monitor"');
    const throttled = await monitor.get("monitor/topology", "wrong-key-0123456789", {
      headers: { "X-Forwarded-For": "203.0.113.9" },
    });
    expect([throttled.status, throttled.headers.get("Retry-After")]).toEqual([429, "60"]);
    const event = { actor: "127.0.0.1", resource_type: "monitor", resource_id: "", outcome: "failure" };
    expect(monitor.events).toMatchObject([
      { ...event, action: "auth.failure", detail: { client_addr: "127.0.0.1" } },
      { ...event, action: "auth.throttled", detail: { client_addr: "203.0.113.9" } },
    ]);
    expect(JSON.stringify(monitor.events)).not.toContain("wrong-key");
  });

  it("successful calls are not recorded: only admin endpoints are", async () => {
    await using monitor = await startMonitor(makeBridge().supervisor);
    for (const view of VIEWS) await monitor.get(`monitor/${view}`, MONITOR_KEY);
    expect(monitor.events).toEqual([]);
  });

  it("an unknown path is 404 for anybody", async () => {
    await using monitor = await startMonitor(makeBridge().supervisor);
    expect(await answer(monitor.get("monitor/nothing"))).toEqual([404, { error: "not found" }]);
    expect((await monitor.get("admin/bridge")).status).toBe(404);
  });
});

describe("finding 5.7: an answer that is made in slices", () => {
  const routes = Array.from({ length: 200 }, (_, index) => `r-${index}`);
  const document = (ids: readonly string[]): object => ({
    stores: { dlq: { type: "memory", options: { acknowledge_volatile: true } } },
    receivers: ids.map((id) => ({ id: `in-${id}`, transport: "memory", options: { channel: id } })),
    senders: [{ id: "out", transport: "memory", options: { discard: true } }],
    bindings: [{ id: "to-out", sender_id: "out" }],
    routes: ids.map((id) => ({ id, receiver_id: `in-${id}`, bindings: ["to-out"] })),
  });
  /** Each look at it is in a slice of its own. */
  const impatient = () => {
    let now = 0;
    return { ...systemClock, monotonic: () => (now += 10) };
  };

  it.each(["topology", "routes", "deephealth", "metrics"])("lets the loop go on: %s", async (path) => {
    const { supervisor } = makeBridge(document(routes));
    await using monitor = await startMonitor(supervisor, { clock: impatient() });
    let turns = 0;
    const count = (): void => void (turns++, (counting = setImmediate(count)));
    let counting = setImmediate(count);
    const response = await monitor.get(`monitor/${path}`, MONITOR_KEY);
    const text = await response.text();
    clearImmediate(counting);
    for (const id of routes) expect(text).toContain(`"${id}"`);
    expect(turns).toBeGreaterThan(routes.length);
  });

  it("tells of the configuration that was in force when it began", async () => {
    const { supervisor } = makeBridge(document(routes));
    await supervisor.start(signal());
    const telling = topologyToWire(supervisor.view(), new Slices(impatient()));
    await supervisor.stop(signal());
    const told = await telling;
    expect(told.running).toBe(true);
    expect(told.routes.map(({ id }) => id)).toEqual(routes);
  });

  it("has counters that add up, whatever is counted meanwhile", async () => {
    const { supervisor } = makeBridge(document(routes));
    await using monitor = await startMonitor(supervisor, { clock: impatient() });
    await supervisor.start(signal());
    const inject = (id: string) =>
      supervisor.inject(id, { subject: "s", payload: new Uint8Array(), headers: {} }, { signal: signal() });
    for (const id of routes) await inject(id);
    const response = await monitor.get("monitor/metrics", MONITOR_KEY);
    for (const id of routes) await inject(id);
    const lines = (await response.text()).split("\n");
    const sum = (name: string): number =>
      lines
        .filter((line) => line.startsWith(`${name}{`))
        .reduce((all, line) => all + Number(line.split(" ").at(-1)), 0);
    expect(sum("bridge_legs_injected_total")).toBe(routes.length);
    expect(sum("bridge_legs_total") + sum("bridge_legs_in_flight")).toBe(routes.length);
    expect(lines).toContain("bridge_unaccounted_messages 0");
  });
});

describe("spec 2.6: deep health of the audit log", () => {
  it("says why events are not kept, and nothing while they are", async () => {
    let fault: string | undefined = "the disk is full";
    const sink = { name: "file", write: () => {}, fault: () => fault };
    await using auditor = createAuditor({ clock: systemClock, logger: silentLogger, sinks: [sink] });
    await using monitor = await startMonitor(makeBridge().supervisor, { auditor });
    const [, body] = await answer(monitor.get("monitor/deephealth", MONITOR_KEY));
    expect(body).toMatchObject({ audit_faults: [{ sink: "file", error: "the disk is full" }] });
    fault = undefined;
    const [, now] = await answer(monitor.get("monitor/deephealth", MONITOR_KEY));
    expect(now).not.toHaveProperty("audit_faults");
  });
});
