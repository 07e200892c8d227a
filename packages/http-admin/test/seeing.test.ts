import { type AuditHistory, createAuditor } from "@bridge/audit";
import { openFileSink } from "@bridge/audit/file";
import { BridgeError, silentLogger, systemClock } from "@bridge/ports";
import { Documented, type OpenApiDocument } from "@bridge/http-kit/documented";
import { times } from "@bridge/tooling/long";
import { ManualClock } from "@bridge/tooling/manual-clock";
import { PATIENCE } from "@bridge/tooling/patience";
import { type ServerEvent, serverEvents } from "@bridge/tooling/server-events";
import { mkdirSync, mkdtempSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { type Admin, ADMIN_KEY, startAdmin } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";
import { problemWith } from "./json-schema.ts";

const TIMES = times(50, 1_000);
const headers = { "X-API-Key": ADMIN_KEY };

interface Overview {
  readonly state?: string;
  readonly routes?: readonly { readonly id: string; readonly in: number; readonly paused?: boolean }[];
  readonly gone_routes?: readonly string[];
}

async function events(admin: Admin, query = "") {
  const answer = await fetch(`${admin.url}/api/v1/admin/events${query}`, { headers });
  expect(answer.status).toBe(200);
  return serverEvents(answer);
}

describe("operators 6.1: events", () => {
  it("tell all of it at first, then what has changed, each as the document says", async () => {
    await using admin = await startAdmin();
    const document = (await admin.call("GET", "/openapi.json")).body as OpenApiDocument;
    const documented = new Documented(document, problemWith);
    const coming = await events(admin, "?topics=overview");
    const next = async (): Promise<Overview> => {
      const event = (await coming.next()).value as ServerEvent;
      documented.holdEvent("GET /api/v1/admin/events", event);
      return event.data as Overview;
    };
    const first = await next();
    expect(first).toMatchObject({ state: "running", level: "full", unaccounted: 0, dlq: { total: 0, exact: true } });
    expect(first.routes?.map(({ id }) => id)).toEqual(admin.supervisor.config().routes.map(({ id }) => id));
    await admin.call("POST", "/routes/alarms/pause");
    const second = await next();
    expect(second.state).toBeUndefined();
    expect(second.routes).toMatchObject([{ id: "alarms", paused: true }]);
    const config = admin.supervisor.config();
    await admin.supervisor.apply({ ...config, routes: config.routes.filter(({ id }) => id !== "alarms") });
    await vi.waitFor(async () => expect((await next()).gone_routes).toEqual(["alarms"]), PATIENCE);
  });

  it("tell rates a second, of what came in and went out, and what failed", async () => {
    await using admin = await startAdmin();
    const coming = await events(admin, "?topics=overview");
    await coming.next();
    admin.hub.channel("nowhere").sends.failNext(1, new BridgeError("REJECTED", "no"));
    await admin.call("POST", "/routes/dropping/inject", { subject: "s" });
    for (let n = 0; n < 5; n++) await admin.call("POST", "/routes/alarms/inject", { subject: "s" });
    const event = (await coming.next()).value as ServerEvent;
    const { routes = [] } = event.data as Overview;
    const alarms = routes.find(({ id }) => id === "alarms");
    expect(alarms?.in).toBeGreaterThan(0);
    expect(alarms).toMatchObject({ bindings: [{ id: "alarms", out: alarms?.in, failed: 0 }] });
    expect(routes.find(({ id }) => id === "dropping")).toMatchObject({ bindings: [{ out: 0 }] });
  });

  it("have jobs when they change, and once more when they have ended", async () => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1", { failedAt: 1 }));
    const document = (await admin.call("GET", "/openapi.json")).body as OpenApiDocument;
    const documented = new Documented(document, problemWith);
    const coming = await events(admin, "?topics=jobs");
    const states = async (): Promise<readonly string[]> => {
      const event = (await coming.next()).value as ServerEvent;
      documented.holdEvent("GET /api/v1/admin/events", event);
      return (event.data as { readonly jobs: readonly { readonly state: string }[] }).jobs.map(({ state }) => state);
    };
    expect(await states()).toEqual([]);
    const order = { kind: "redrive", filter: {}, reason: "the shop is back" };
    const { body } = await admin.call("POST", "/dlq/jobs", order);
    expect(await states()).toEqual(["planned"]);
    await admin.call("POST", `/dlq/jobs/${(body as { readonly id: string }).id}/cancel`);
    expect(await states()).toEqual(["cancelled"]);
    expect(await states()).toEqual([]);
  });

  it("have conditions when they change, and refuse a topic that is none", async () => {
    await using admin = await startAdmin();
    const coming = await events(admin, "?topics=conditions");
    expect((await coming.next()).value).toEqual({ event: "conditions", data: { conditions: [] } });
    for (const topics of ["nothing", "overview,", "constructor"])
      expect(await admin.call("GET", `/events?topics=${topics}`)).toMatchObject({ status: 400 });
  });

  it("cost nothing while nobody looks, and nothing is left of many who did", async () => {
    let looks = 0;
    await using admin = await startAdmin({
      seenAs: (supervisor) =>
        new Proxy(supervisor, {
          get: (target, property) => {
            if (property === "stats") looks++;
            const value: unknown = Reflect.get(target, property, target);
            return typeof value === "function" ? (value.bind(target) as unknown) : value;
          },
        }),
    });
    for (let n = 0; n < TIMES; n++) {
      const coming = await events(admin, "?topics=overview");
      await coming.next();
      await coming.return(undefined);
    }
    const [metrics] = [looks];
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(looks - metrics).toBeLessThanOrEqual(1);
    expect(looks).toBeLessThanOrEqual(TIMES + 1);
  });
});

describe("operators 6.2: series, conditions, topology", () => {
  it("series are of the process, of a route and of a binding", async () => {
    const clock = new ManualClock();
    await using admin = await startAdmin({ clock });
    for (let n = 0; n < 3; n++) await admin.call("POST", "/routes/fan/inject", { subject: "s" });
    await clock.pass(1_000);
    const read = async (query: string) =>
      (await admin.call("GET", `/series?${query}`)).body as {
        readonly step_ms: number;
        readonly values: { readonly out: readonly (number | null)[]; readonly send_p99_ms: readonly (number | null)[] };
      };
    for (const [query, out] of [
      ["", 6],
      ["route_id=fan", 6],
      ["route_id=fan&binding_id=to-a", 3],
    ] as const) {
      const { values, step_ms } = await read(query);
      expect([step_ms, values.out.length, values.out.at(-1), values.out.at(-2)]).toEqual([1_000, 300, out, null]);
      expect(values.send_p99_ms.at(-1)).toBeGreaterThan(0);
    }
    expect(await read("window=24h")).toMatchObject({ step_ms: 60_000 });
    expect(await admin.call("GET", "/series?binding_id=to-a")).toMatchObject({ status: 400 });
    expect(await admin.call("GET", "/series?route_id=none")).toMatchObject({ status: 404 });
  });

  it("conditions hold after they have been so for long enough, and are remembered when they end", async () => {
    const clock = new ManualClock();
    await using admin = await startAdmin({ clock });
    await clock.pass(5_000);
    admin.hub.channel("out").sends.failNext(1, new BridgeError("REJECTED", "no"));
    await admin.call("POST", "/routes/alarms/inject", { subject: "s" });
    const holding = async () => (await admin.call("GET", "/conditions?past=true")).body;
    expect(await holding()).toEqual({ conditions: [], past: [] });
    for (let look = 0; look < 61; look++) await clock.pass(5_000);
    const condition = {
      code: "dead_letters",
      severity: "warning",
      what: "route alarms: messages are dead-lettered",
      route_id: "alarms",
      binding_id: "alarms",
      runbook: "growing-dlq",
    };
    expect(await holding()).toMatchObject({ conditions: [condition], past: [] });
    for (let look = 0; look < 130; look++) await clock.pass(5_000);
    expect(await holding()).toMatchObject({
      conditions: [],
      past: [{ ...condition, until: expect.any(String) as string }],
    });
  });

  it("topology is the graph of the parts, each with its state", async () => {
    await using admin = await startAdmin();
    await admin.call("POST", "/routes/alarms/pause");
    const { nodes, edges } = (await admin.call("GET", "/topology")).body as {
      readonly nodes: readonly { readonly id: string; readonly state: string }[];
      readonly edges: readonly { readonly from: string; readonly to: string }[];
    };
    const ids = new Set(nodes.map(({ id }) => id));
    for (const { from, to } of edges) expect([from, ids.has(from), to, ids.has(to)]).toEqual([from, true, to, true]);
    expect(nodes).toContainEqual({ id: "route:alarms", kind: "route", label: "alarms", state: "paused" });
    expect(nodes).toContainEqual({
      id: "receiver:fan",
      kind: "receiver",
      label: "fan",
      transport: "memory",
      state: "up",
    });
    expect(edges).toContainEqual({ from: "route:fan", to: "binding:to-b" });
    await admin.call("POST", "/bridge/stop");
    const stopped = (await admin.call("GET", "/topology")).body as {
      readonly nodes: readonly { readonly state: string }[];
    };
    expect(new Set(stopped.nodes.map(({ state }) => state))).toEqual(new Set(["idle", "paused"]));
  });
});

describe("operators 6.5: the audit viewer", () => {
  it("shows what was recorded, newest first, by filters and pages, and verifies the chain", async () => {
    const folder = mkdtempSync(join(tmpdir(), "audit-"));
    const path = join(folder, "audit.jsonl");
    try {
      const sink = await openFileSink({ path, clock: systemClock, logger: silentLogger });
      const auditor = createAuditor({ clock: systemClock, logger: silentLogger, sinks: [sink] });
      await using admin = await startAdmin({ auditor });
      for (let n = 0; n < 5; n++) await admin.call("GET", "/routes");
      await admin.call("POST", "/routes/alarms/pause");
      const list = async (query: string) =>
        (await admin.call("GET", `/audit?${query}`)).body as {
          readonly events: readonly { readonly action: string }[];
          readonly next_cursor?: string;
          readonly chain: string;
        };
      expect((await list("")).events.map(({ action }) => action).slice(0, 3)).toEqual([
        "route.pause",
        "route.pause.begin",
        "route.list",
      ]);
      expect(await list("action=route.pause&resource_id=alarms")).toMatchObject({
        events: [{ action: "route.pause", actor: "admin", outcome: "success" }],
        chain: "ok",
      });
      let cursor = "";
      let seen = 0;
      do {
        const page = await list(`action=route.list&limit=2${cursor}`);
        seen += page.events.length;
        cursor = page.next_cursor === undefined ? "" : `&cursor=${page.next_cursor}`;
      } while (cursor !== "");
      expect(seen).toBe(5);
      expect(await admin.call("GET", "/audit?cursor=nonsense")).toMatchObject({
        status: 400,
        body: { error: "invalid query: cursor: is not one of this list" },
      });
      expect(await admin.call("POST", "/audit/verify")).toMatchObject({ status: 200, body: { ok: true } });
      await auditor[Symbol.asyncDispose]();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it.each([
    ["emptied", (path: string) => truncateSync(path), "the end of the file was cut off"],
    ["deleted", (path: string) => rmSync(path), "the file was moved or deleted"],
  ])("does not say that all is well of a file that was %s while the bridge ran", async (_, harm, words) => {
    const folder = mkdtempSync(join(tmpdir(), "audit-"));
    const path = join(folder, "audit.jsonl");
    try {
      const sink = await openFileSink({ path, hmacKey: "k".repeat(32), clock: systemClock, logger: silentLogger });
      const auditor = createAuditor({ clock: systemClock, logger: silentLogger, sinks: [sink] });
      await using admin = await startAdmin({ auditor });
      await admin.call("POST", "/routes/alarms/pause");
      await admin.call("POST", "/routes/alarms/resume");
      harm(path);
      await admin.call("POST", "/routes/alarms/pause");
      expect(await admin.call("POST", "/audit/verify")).toMatchObject({
        status: 200,
        body: {
          ok: false,
          problem: expect.stringContaining(`the records before record 5 are gone: ${words}`) as string,
        },
      });
      expect(await admin.call("GET", "/audit?action=audit.resumed")).toMatchObject({
        status: 200,
        body: { chain: "broken", break_at: 5, events: [{ detail: { lost: 4 } }] },
      });
      await auditor[Symbol.asyncDispose]();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("of a file that cannot be read says why, and what to do", async () => {
    const folder = mkdtempSync(join(tmpdir(), "audit-"));
    const path = join(folder, "audit.jsonl");
    try {
      await using sink = await openFileSink({ path, clock: systemClock, logger: silentLogger });
      await using admin = await startAdmin({ history: sink.history as AuditHistory });
      rmSync(path);
      mkdirSync(path);
      const refused = {
        status: 503,
        body: { error: `${path}: is a folder: name a file, which is made when it is missing` },
      };
      expect(await admin.call("GET", "/audit")).toMatchObject(refused);
      expect(await admin.call("POST", "/audit/verify")).toMatchObject(refused);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("without an audit file says so", async () => {
    await using admin = await startAdmin();
    for (const [method, path] of [
      ["GET", "/audit"],
      ["POST", "/audit/verify"],
    ] as const)
      expect(await admin.call(method, path)).toMatchObject({
        status: 404,
        body: { error: "no audit file configured" },
      });
  });
});
