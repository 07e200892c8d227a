import { createAuditor } from "@bridge/audit";
import { silentLogger, systemClock } from "@bridge/ports";
import { announce } from "@bridge/tooling/announce";
import { describe, expect, it } from "vitest";
import { type Admin, ADMIN_KEY, startAdmin } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";
import { BRIDGELESS_CALLS, CALLS, CONFIG_CALLS, JOB_CALLS, type SampleCall } from "./calls.ts";
import { startTransactional } from "./transactional.ts";

function tell(admin: Admin): (readonly [string, string])[] {
  return admin.events.map(({ action, outcome }) => [action, outcome] as const);
}

/** Actions that are not preceded by a record of what is begun: their effects end with the process, unseen. */
const WITHOUT_BEGIN = new Set([
  "config.txn.create",
  "config.txn.patch",
  "config.txn.document",
  "config.txn.validate",
  "config.txn.rollback",
  "audit.verify",
]);

function begins({
  method,
  action,
  goesOn,
}: Pick<SampleCall, "method" | "action" | "goesOn">): readonly (readonly [string, string])[] {
  return (method === "GET" && goesOn !== true) || WITHOUT_BEGIN.has(action) ? [] : [[`${action}.begin`, "pending"]];
}

/** What shows content without a change. */
const SHOWING = ["dlq.read_payload", "dlq.export", "route.tail"];

describe("spec 6: while the audit file cannot be written", () => {
  const refuses = async (): Promise<never> => {
    throw new Error("audit.jsonl: the disk is full: make room");
  };

  it.each([...CALLS, ...BRIDGELESS_CALLS])(
    "$method $path is refused if it changes something or shows content, and goes on otherwise",
    async ({ method, path, body, action, status = 200 }) => {
      const sinks = [{ name: "file", write: refuses, ready: refuses }];
      await using auditor = createAuditor({ clock: systemClock, logger: silentLogger, sinks });
      await using admin = await startAdmin({ outbox: true, auditor });
      await keep(admin, deadLetter("e1"));
      const answer = await admin.call(method, path, body);
      const goesOn = action === "audit.verify" || (method === "GET" && !SHOWING.includes(action));
      expect(answer.status).toBe(goesOn ? status : 503);
      if (!goesOn)
        expect([answer.body, answer.headers.get("Retry-After")]).toMatchObject([
          { error: expect.stringContaining("the audit log cannot be written") as string },
          "5",
        ]);
      expect([...auditor.faults()]).toEqual([["file", "audit.jsonl: the disk is full: make room"]]);
    },
  );
});

describe("spec 6: every endpoint is audited", () => {
  it("the calls of these tests are all that the server has", async () => {
    await using admin = await startTransactional();
    const document = (await (
      await fetch(`${admin.url}/api/v1/openapi.json`, { headers: { "X-API-Key": ADMIN_KEY } })
    ).json()) as { readonly paths: Readonly<Record<string, object>> };
    const prefix = "/api/v1/admin";
    for (const [path, operations] of Object.entries(document.paths)) {
      // Needs no bridge, and has a test of its own below.
      if (path.endsWith("/openapi.json")) continue;
      const pattern = new RegExp(`^${path.slice(prefix.length).replaceAll(/\{\w+\}/g, "[^/]+")}$`);
      for (const method of Object.keys(operations).filter((key) => key !== "parameters" && path.startsWith(prefix)))
        expect(
          [...CALLS, ...BRIDGELESS_CALLS, ...CONFIG_CALLS, ...JOB_CALLS].some(
            (call) => call.method === method.toUpperCase() && pattern.test(call.path),
          ),
          `${method} ${path}: give it a row in calls.ts`,
        ).toBe(true);
    }
  });

  it.each([...CALLS, ...BRIDGELESS_CALLS])(
    "$method $path is recorded as $action, before it begins and when it is done",
    async ({ method, path, body, action, status = 200, outcome = "success", goesOn = false }) => {
      await using admin = await startAdmin({ outbox: true });
      await keep(admin, deadLetter("e1"));
      expect((await admin.call(method, path, body)).status).toBe(status);
      const told = [...begins({ method, action, ...(goesOn && { goesOn }) }), [action, outcome]];
      // What goes on is recorded when it has ended.
      if (goesOn) await expect.poll(() => tell(admin).length).toBe(told.length);
      expect(tell(admin)).toEqual(told);
      for (const event of admin.events)
        expect(event).toMatchObject({
          timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
          actor: "admin",
          resource_type: action.split(".")[0],
          detail: { client_addr: "127.0.0.1" },
        });
    },
  );

  it.each(CONFIG_CALLS)("$method $path is recorded as $action, done and refused", async (call) => {
    await using admin = await startTransactional();
    const { method, path, body, action, status = 200, outcome = "success" } = call;
    const isOfOne = path.includes("{txnID}");
    const [, , , id = ""] = isOfOne ? (await admin.opened({ bridge: { log_level: "debug" } })).split("/") : [];
    const before = admin.events.length;
    expect((await admin.call(method, path.replace("{txnID}", id), body)).status).toBe(status);
    expect(tell(admin).slice(before)).toEqual([...begins(call), [action, outcome]]);
    if (!isOfOne) return;
    expect((await admin.call(method, path.replace("{txnID}", "not-there"), body)).status).toBe(404);
    expect(tell(admin).at(-1)).toEqual([action, "failure"]);
  });

  // Who calls is told before there is a bridge.
  it.each(CALLS.filter(({ path }) => path !== "/session"))(
    "$method $path, refused after authentication, is $action with outcome failure",
    async (call) => {
      await using admin = await startAdmin({ seenAs: () => undefined });
      expect((await admin.call(call.method, call.path, call.body)).status).toBe(503);
      expect(tell(admin)).toEqual([[call.action, "failure"]]);
    },
  );

  it.each(CALLS)("$method $path without a key is auth.failure of the peer, and nothing else", async (call) => {
    await using admin = await startAdmin();
    const headers = { "X-API-Key": "wrong-key-0123456789", "X-Forwarded-For": "203.0.113.9" };
    expect((await admin.call(call.method, call.path, call.body, { headers })).status).toBe(401);
    expect(admin.events).toMatchObject([
      { action: "auth.failure", actor: "127.0.0.1", outcome: "failure", detail: { client_addr: "203.0.113.9" } },
    ]);
  });

  it("the record of what begins says what was asked for, and is kept before anything is done", async () => {
    await using admin = await startAdmin({ outbox: true });
    await keep(admin, deadLetter("e1"));
    const seen: string[] = [];
    admin.faults.store = (method) => {
      seen.push(`${method} after ${admin.events.at(-1)?.action}`);
    };
    await admin.call("POST", "/dlq/delete", { ids: ["e1", "e1", "e2"] });
    await admin.call("POST", "/dlq/delete-by-filter", { route_id: "alarms", limit: 3 });
    await admin.call("POST", "/dlq/purge", { confirm_purge_all: true });
    expect(seen).toEqual([
      "delete after dlq.delete.begin",
      "deleteWhere after dlq.delete_by_filter.begin",
      "deleteWhere after dlq.purge.begin",
    ]);
    expect(admin.events.filter(({ outcome }) => outcome === "pending")).toMatchObject([
      { detail: { ids: ["e1", "e2"] } },
      { detail: { route_id: "alarms", limit: 3 } },
      {},
    ]);
  });
});

describe("spec 6: audit", () => {
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
    await announce(`${admin.url}/api/v1/admin/dlq/purge`, { headers: { "X-API-Key": ADMIN_KEY } });
    await admin.call("GET", "/bridge/stop");
    await admin.call("POST", "/bridge/stop");
    await admin.call("POST", "/dlq/redrive", { ids: ["e1"] });
    expect(tell(admin)).toEqual([
      ["route.inject", "failure"],
      ["dlq.list", "failure"],
      ["dlq.read_payload", "failure"],
      ["dlq.purge", "failure"],
      ["bridge.stop", "failure"],
      ["bridge.stop.begin", "pending"],
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
