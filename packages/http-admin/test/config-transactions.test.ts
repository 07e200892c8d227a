import { setTimeout as sleep } from "node:timers/promises";
import { openMemoryConfig } from "@bridge/memory";
import { BridgeError } from "@bridge/ports";
import { describe, expect, it } from "vitest";
import { ADMIN_KEY, startAdmin } from "./admin.ts";
import { makeBridge } from "./bridge.ts";
import { applierWith, startTransactional, storeWith } from "./transactional.ts";

const DEBUG = { bridge: { log_level: "debug" } };
const NEVER = new AbortController().signal;
const NOT_FOUND = { error: "transaction not found or expired" };

function error(text: string): unknown {
  return { error: expect.stringContaining(text) as unknown };
}

describe("without a transaction manager", () => {
  it("the endpoints of the configuration are unknown paths", async () => {
    await using admin = await startAdmin();
    for (const [method, path] of [
      ["GET", "/config"],
      ["GET", "/config/history"],
      ["POST", "/config/transactions"],
      ["POST", "/config/transactions/x/commit"],
    ] as const)
      expect(await admin.call(method, path)).toMatchObject({ status: 404, body: { error: "not found" } });
  });
});

describe("a guard that guards nothing", () => {
  it.each([
    [{}, "guard: guards nothing: give level or failure_ratio"],
    [{ level_for: "1s" }, "guard: guards nothing"],
    [{ min_sends: 1 }, "guard: guards nothing"],
    [{ level_for: "1s", failure_ratio: 0.1 }, "guard.level_for: needs level"],
    [{ min_sends: 5, level: "full" }, "guard.min_sends: needs failure_ratio"],
  ])("is refused, and nothing is written: %j", async (guard, told) => {
    await using admin = await startTransactional({});
    const path = await admin.opened(DEBUG);
    expect(await admin.call("POST", `${path}/commit`, { confirm_within: "10s", guard })).toMatchObject({
      status: 400,
      body: error(told),
    });
    expect((await admin.call("GET", path)).status).toBe(200);
  });
});

describe("GET /config", () => {
  it("has the version and the configuration in force, redacted and without options", async () => {
    await using admin = await startTransactional({ document: { http: { admin_api_key: "a-secret-0123456789" } } });
    const { status, body } = await admin.call("GET", "/config");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      version: 0,
      config: {
        bridge: { id: "plant-7", log_level: "info", drain_timeout: "5s" },
        http: { admin_api_key: "[REDACTED]", monitor_api_key: "" },
        stores: { dlq: { type: "memory" } },
      },
    });
    expect(JSON.stringify(body)).not.toContain("options");
  });

  it("sent back as it is, changes nothing", async () => {
    await using admin = await startTransactional({
      document: { config_version: 7, http: { admin_api_key: "${env:KEY}" } },
      env: { KEY: "k".repeat(20) },
    });
    const { body } = await admin.call("GET", "/config");
    const { config } = body as { config: object };
    const path = await admin.opened(config);
    expect((await admin.call("GET", path)).body).toMatchObject({ patch_count: 1, preview: config });
    expect(await admin.call("POST", `${path}/commit`)).toMatchObject({
      status: 200,
      body: { status: "committed", version: 7 },
    });
    expect((await admin.call("GET", "/config/history")).body).toEqual({ versions: [] });
  });

  it("is 503 without a configuration, and so is opening a transaction", async () => {
    await using admin = await startTransactional({ document: undefined });
    expect(await admin.call("GET", "/config")).toMatchObject({ status: 503, body: error("there is no configuration") });
    expect(await admin.call("POST", "/config/transactions")).toMatchObject({ status: 503 });
    admin.held.fail(new Error("line 3: not YAML"));
    expect(await admin.call("GET", "/config")).toMatchObject({ status: 503, body: error("line 3: not YAML") });
  });
});

describe("POST /config/transactions", () => {
  it("is 201 with the id, the version, the times and the configuration", async () => {
    await using admin = await startTransactional();
    const { status, body } = await admin.call("POST", "/config/transactions");
    expect(status).toBe(201);
    const { txn_id: id, created_at: from, expires_at: to, ...rest } = body as Record<string, string>;
    expect(id).toMatch(/^.{10,}$/);
    expect(Date.parse(to ?? "") - Date.parse(from ?? "")).toBe(300_000);
    expect(rest).toEqual((await admin.call("GET", "/config")).body);
  });

  it.each([
    ["10m", 600_000],
    ["30m", 1_800_000],
    ["1ms", 1],
  ])("takes a ttl of %s", async (ttl, ms) => {
    await using admin = await startTransactional();
    const { body } = await admin.call("POST", "/config/transactions", { ttl });
    const { created_at: from = "", expires_at: to = "" } = body as Record<string, string>;
    expect(Date.parse(to) - Date.parse(from)).toBe(ms);
  });

  it.each([{ ttl: "31m" }, { ttl: "0s" }, { ttl: 5 }, { ttl: "soon" }, { ttl: null }, { TTL: "5m" }, "[]", "{", "5m"])(
    "refuses %j with 400 and opens nothing",
    async (body) => {
      await using admin = await startTransactional();
      expect(await admin.call("POST", "/config/transactions", body)).toMatchObject({
        status: 400,
        body: error("invalid request body"),
      });
      expect((await admin.call("POST", "/config/transactions")).status).toBe(201);
    },
  );

  it("is 409 while another one is open, naming it and its expiry", async () => {
    await using admin = await startTransactional();
    const { body } = await admin.call("POST", "/config/transactions");
    const { txn_id: id = "", expires_at: to = "" } = body as Record<string, string>;
    const second = await admin.call("POST", "/config/transactions", {});
    expect(second).toMatchObject({ status: 409, body: { error: expect.stringMatching(`${id}.*${to}`) as unknown } });
    await admin.call("DELETE", `/config/transactions/${id}`);
    expect((await admin.call("POST", "/config/transactions")).status).toBe(201);
  });
});

describe("a transaction that is not there", () => {
  it.each([
    ["GET", ""],
    ["PATCH", ""],
    ["DELETE", ""],
    ["POST", "/commit"],
    ["POST", "/validate"],
  ])("%s %s is 404 before anything else: unknown, expired, discarded or committed", async (method, action) => {
    await using admin = await startTransactional();
    const gone = [await admin.opened()];
    await admin.call("DELETE", gone[0] ?? "");
    gone.push(await admin.opened(DEBUG));
    await admin.call("POST", `${gone[1]}/commit`);
    const { body } = await admin.call("POST", "/config/transactions", { ttl: "1ms" });
    gone.push(`/config/transactions/${(body as { txn_id: string }).txn_id}`, "/config/transactions/x");
    await sleep(5);
    for (const path of gone)
      expect(await admin.call(method, `${path}${action}`, method === "GET" ? undefined : "{")).toMatchObject({
        status: 404,
        body: NOT_FOUND,
      });
  });

  it("has other methods refused with those that there are", async () => {
    await using admin = await startTransactional();
    const wrong = await admin.call("PUT", "/config/transactions/x", {});
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, HEAD, PATCH, DELETE"]);
  });
});

describe("PATCH", () => {
  it("answers with the preview, and with what is wrong with it", async () => {
    await using admin = await startTransactional();
    const path = await admin.opened();
    const id = path.split("/").at(-1);
    const good = await admin.call("PATCH", path, DEBUG);
    expect(good).toMatchObject({ status: 200, body: { txn_id: id, preview: { bridge: { log_level: "debug" } } } });
    expect(good.body).not.toHaveProperty("validation_errors");
    const bad = await admin.call("PATCH", path, { routes: [{ id: "alarms", receiver_id: "nothing" }] });
    expect(bad).toMatchObject({
      status: 200,
      body: {
        validation_errors: expect.arrayContaining([
          { path: "routes[0].receiver_id", message: expect.any(String) as unknown },
        ]) as unknown,
      },
    });
    expect((await admin.call("GET", path)).body).toMatchObject({ patch_count: 2, version: 0 });
  });

  it.each([
    [{ version: 2.5 }, "version: expected a whole number"],
    [{ version: -1 }, "version: expected 0 or more"],
    [{ version: "2" }, "version: expected number"],
  ])("a version that is none is refused with what is expected: %j", async (body, text) => {
    await using admin = await startTransactional();
    expect(await admin.call("POST", "/config/confirm", body)).toMatchObject({
      status: 400,
      body: error(`invalid request body: ${text}`),
    });
  });

  it.each([
    ['{"options":{}}', "options: unknown field"],
    ['{"sessions":[{"id":"x","options":{}}]}', "sessions[0].options: unknown field"],
    ['{"brigde":{}}', "brigde: unknown field"],
    ['{"bridge":null}', "bridge: must not be null"],
    ['{"bridge":{"log_level":3}}', "bridge.log_level: expected a string"],
    ["[]", "expected a JSON object"],
    ["{", "invalid request body"],
    ["", "invalid request body"],
  ])("%s is 400 and changes nothing", async (body, text) => {
    await using admin = await startTransactional();
    const path = await admin.opened(DEBUG);
    const before = (await admin.call("GET", path)).body;
    expect(await admin.call("PATCH", path, body)).toMatchObject({ status: 400, body: error(text) });
    expect((await admin.call("GET", path)).body).toEqual(before);
  });

  it("of more than 1 MB is 413", async () => {
    await using admin = await startTransactional();
    expect((await admin.call("PATCH", await admin.opened(), `{"x":"${"x".repeat(1_100_000)}"}`)).status).toBe(413);
  });
});

describe("POST …/validate", () => {
  it("says what a commit would restart and change", async () => {
    await using admin = await startTransactional();
    const overlay = { ...DEBUG, routes: [{ id: "alarms", policy: { max_in_flight: 7 } }] };
    const { status, body } = await admin.call("POST", `${await admin.opened(overlay)}/validate`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      valid: true,
      erased_options: [],
      validation_errors: [],
      conflict: false,
      changes: [
        { path: "bridge.log_level", before: "info", after: "debug" },
        { path: "routes[alarms].policy.max_in_flight", before: 100, after: 7 },
      ],
      plan: {
        unchanged: false,
        routes: { added: [], removed: [], restarted: expect.arrayContaining(["alarms"]) as unknown },
        restart_required: [],
      },
    });
    expect(admin.supervisor.config().bridge.logLevel).toBe("info");
  });

  it("says everything that a commit would be refused for", async () => {
    await using admin = await startTransactional();
    const path = await admin.opened({ stores: { dlq: { type: "read-only" } }, bridge: { log_level: "loud" } });
    admin.held.replace({ bridge: { id: "another" } });
    const { body } = await admin.call("POST", `${path}/validate`);
    expect(body).toMatchObject({
      valid: false,
      erased_options: ["stores.dlq.options"],
      validation_errors: [{ path: "bridge.log_level" }],
      conflict: true,
    });
    expect(body).not.toHaveProperty("plan");
  });
});

describe("finding 4.6: a PATCH", () => {
  it("brings no reference that the document has not, and is told so before anything is read", async () => {
    await using admin = await startTransactional({ env: { OTHER: "seen" } });
    const path = await admin.opened();
    for (const overlay of [
      { bindings: [{ id: "alarms", address: "${file:/etc/passwd}" }] },
      { bindings: [{ id: "alarms", address: "${env:OTHER}" }] },
      { telemetry: { otlp: { headers: { x: "${env:OTHER}" } } } },
      { config: { references: { allow: ["env:*"] } } },
    ]) {
      const answer = await admin.call("PATCH", path, overlay);
      expect(answer.status).toBe(400);
      expect(JSON.stringify(answer.body)).not.toMatch(/seen|it is not there/);
    }
    expect((await admin.call("GET", path)).body).toMatchObject({ patch_count: 0 });
  });

  it("brings those that the document allows", async () => {
    const config = { references: { allow: ["env:SITE_*"] } };
    await using admin = await startTransactional({ document: { config }, env: { SITE_NAME: "north" } });
    const answer = await admin.commit({ bindings: [{ id: "alarms", address: "out/${env:SITE_NAME}" }] });
    expect(answer).toMatchObject({ status: 200, body: { status: "committed" } });
  });
});

describe("POST …/commit", () => {
  it("is 200 committed when it runs, and when nothing applies configurations", async () => {
    await using admin = await startTransactional();
    const committed = await admin.commit({ routes: [{ id: "alarms", policy: { max_in_flight: 7 } }] });
    expect(committed).toMatchObject({ status: 200, body: { status: "committed", version: 1 } });
    expect((await admin.call("GET", "/routes")).body).toMatchObject({
      routes: expect.arrayContaining([expect.objectContaining({ id: "alarms", max_in_flight: 7 })]) as unknown,
    });
    await using bare = await startTransactional({ applier: "none" });
    expect(await bare.commit(DEBUG)).toMatchObject({ status: 200, body: { status: "committed", version: 1 } });
    expect(bare.supervisor.config().bridge.logLevel).toBe("info");
  });

  it("of no patch is 200 with the version as it was", async () => {
    await using admin = await startTransactional({ document: { config_version: 4 } });
    const path = await admin.opened();
    expect(await admin.call("POST", `${path}/commit`)).toMatchObject({
      status: 200,
      body: { status: "committed", version: 4 },
    });
  });

  it("is 202 committed_applying while the bridge is paused; a start then runs it", async () => {
    await using admin = await startTransactional();
    await admin.call("POST", "/bridge/stop");
    expect(await admin.commit(DEBUG)).toMatchObject({
      status: 202,
      body: { status: "committed_applying", version: 1 },
    });
    await admin.call("POST", "/bridge/start");
    expect(admin.supervisor.config()).toMatchObject({ configVersion: 1, bridge: { logLevel: "debug" } });
  });

  it("is 202 committed_applying while another configuration is being brought into force", async () => {
    await using admin = await startTransactional();
    const holding = admin.hub.channel("alarms").opens.hold();
    const path = await admin.opened(DEBUG);
    const { supervisor } = admin;
    const other = {
      ...supervisor.config(),
      receivers: supervisor
        .config()
        .receivers.map((receiver) =>
          receiver.id === "alarms" ? { ...receiver, options: { channel: "alarms", counts: false } } : receiver,
        ),
    };
    const applying = supervisor.apply(other, AbortSignal.timeout(10_000));
    await expect.poll(() => supervisor.state().kind).toBe("swapping");
    expect(await admin.call("POST", `${path}/commit`)).toMatchObject({
      status: 202,
      body: { status: "committed_applying" },
    });
    holding[Symbol.dispose]();
    await applying;
    await expect.poll(() => supervisor.config().bridge.logLevel).toBe("debug");
  });

  it("is 422 for options that it would erase, before anything else, and then for what is invalid; and stays open", async () => {
    await using admin = await startTransactional();
    const path = await admin.opened({ stores: { dlq: { type: "read-only" } }, bridge: { log_level: "loud" } });
    admin.held.replace({ ...admin.document, bridge: { id: "by-hand" } });
    expect(await admin.call("POST", `${path}/commit`)).toMatchObject({
      status: 422,
      body: { error: "config commit would erase plugin options" },
    });
    await admin.call("PATCH", path, { stores: { dlq: { type: "memory" } } });
    expect(await admin.call("POST", `${path}/commit`)).toMatchObject({
      status: 422,
      body: { error: "config validation failed", validation_errors: [{ path: "bridge.log_level" }] },
    });
    expect((await admin.call("GET", path)).status).toBe(200);
  });

  it("is 409 when the version moved, when another hand wrote, and when it cannot be written; and ends", async () => {
    await using admin = await startTransactional({ document: { config_version: 3 } });
    for (const config_version of [4, 3]) {
      admin.held.replace({ ...admin.document, config_version: 3 });
      const path = await admin.opened(DEBUG);
      admin.held.replace({ ...admin.document, config_version });
      expect(await admin.call("POST", `${path}/commit`)).toMatchObject({
        status: 409,
        body: error("another hand has written"),
      });
      expect((await admin.call("GET", path)).status).toBe(404);
    }
    await using readOnly = await startTransactional({ readOnly: true });
    expect(await readOnly.commit(DEBUG)).toMatchObject({ status: 409, body: error("read-only") });
  });

  it("operators 7: is 409 probation while another instance has a change on probation, which names it and both ways out", async () => {
    await using admin = await startTransactional();
    const path = await admin.opened(DEBUG);
    const other = openMemoryConfig(admin.held);
    const base = await other.load(NEVER);
    if (base === undefined) throw new Error("there is no document");
    const at = Date.now();
    const request = { by: "plant-7-b", at, until: at + 60_000, leftBehindBefore: 0 };
    await other.staging?.stage(base.document, base, request, NEVER);
    expect(await admin.call("POST", `${path}/commit`)).toMatchObject({
      status: 409,
      body: { ...(error("confirm it there, or revert it at any instance") as object), reason: "probation" },
    });
  });

  it("is 500 rolled_back when it cannot be applied: the former configuration is stored and runs", async () => {
    const spare = { id: "spare", transport: "memory", options: { channel: "spare" } };
    const receivers = makeBridge({}).document["receivers"] as readonly object[];
    await using admin = await startTransactional({ document: { receivers: [...receivers, spare] } });
    admin.hub.channel("spare").opens.failNext(1, new BridgeError("UNAVAILABLE", "the broker refuses"));
    const answer = await admin.commit({ routes: [{ id: "spare", receiver_id: "spare", bindings: ["alarms"] }] });
    expect(answer).toMatchObject({
      status: 500,
      body: {
        status: "rolled_back",
        version: 0,
        error: "the configuration could not be applied: the broker refuses (the former configuration runs again)",
      },
    });
    expect((await admin.call("GET", "/config")).body).toMatchObject({ version: 0 });
    expect((await admin.call("GET", "/bridge")).body).toMatchObject({ running: true });
    expect((await admin.call("GET", "/config/history")).body).toEqual({ versions: [] });
  });

  it("is 500 rolled_back over the cap", async () => {
    await using admin = await startTransactional({
      applier: applierWith(() => new Promise(() => {})),
      applyTimeoutMs: 20,
    });
    expect(await admin.commit(DEBUG)).toMatchObject({
      status: 500,
      body: { status: "rolled_back", version: 0, ...(error("not applied within 0.02 s") as object) },
    });
  });

  it("is 500 committed_not_applied when it cannot be undone, with the version that is stored", async () => {
    await using admin = await startTransactional({
      applier: applierWith(() => Promise.reject(new Error("no"))),
      store: storeWith({ restore: () => Promise.reject(new Error("the disk is gone")) }),
    });
    expect(await admin.commit(DEBUG)).toMatchObject({
      status: 500,
      body: {
        status: "committed_not_applied",
        version: 1,
        ...(error("the disk is gone; version 1 is stored and does not run") as object),
      },
    });
    expect((await admin.call("GET", "/config/history")).body).toMatchObject({
      versions: [{ version: 1, pending: true }],
    });
  });

  it("is 500 committed_not_applied when it cannot be written, with the version that is stored", async () => {
    await using admin = await startTransactional({
      store: storeWith({ write: () => Promise.reject(new Error("no space left on device")) }),
    });
    expect(await admin.commit(DEBUG)).toMatchObject({
      status: 500,
      body: { status: "committed_not_applied", version: 0, ...(error("no space left on device") as object) },
    });
  });

  it("goes on when the client is gone; nobody can disturb it meanwhile", async () => {
    const go = Promise.withResolvers<"applied">();
    await using admin = await startTransactional({ applier: applierWith(() => go.promise) });
    const path = await admin.opened(DEBUG);
    const impatient = new AbortController();
    const asked = admin.call("POST", `${path}/commit`, undefined, { signal: impatient.signal });
    await expect.poll(async () => (await admin.call("PATCH", path, {})).status).toBe(409);
    impatient.abort();
    await expect(asked).rejects.toThrow("aborted");
    for (const [method, action] of [
      ["DELETE", ""],
      ["POST", "/commit"],
      ["POST", "/validate"],
    ] as const)
      expect(await admin.call(method, `${path}${action}`)).toMatchObject({
        status: 409,
        body: error("is being committed"),
      });
    expect((await admin.call("GET", path)).status).toBe(200);
    go.resolve("applied");
    await expect.poll(async () => (await admin.call("GET", "/config")).body).toMatchObject({ version: 1 });
    await expect
      .poll(() => admin.events.filter(({ action, outcome }) => action === "config.txn.commit" && outcome === "success"))
      .toMatchObject([{ detail: { status: "committed", version: 1 } }]);
  });
});

describe("DELETE", () => {
  it("is 200 rolled_back, and nothing has changed", async () => {
    await using admin = await startTransactional();
    const path = await admin.opened(DEBUG);
    expect(await admin.call("DELETE", path)).toMatchObject({ status: 200, body: { status: "rolled_back" } });
    expect((await admin.call("GET", "/config")).body).toMatchObject({
      version: 0,
      config: { bridge: { log_level: "info" } },
    });
  });
});

describe("GET /config/history", () => {
  it("has who committed what and when, the newest first and at most 20", async () => {
    await using admin = await startTransactional();
    for (let n = 1; n <= 22; n++) await admin.commit({ routes: [{ id: "alarms", policy: { max_in_flight: n } }] });
    const { status, body } = await admin.call("GET", "/config/history");
    const { versions } = body as { versions: readonly { version: number; committed_at: string }[] };
    expect(status).toBe(200);
    expect(versions.map(({ version }) => version)).toEqual(Array.from({ length: 20 }, (_, index) => 22 - index));
    expect(versions[0]).toEqual({
      version: 22,
      committed_at: expect.stringMatching(/^\d{4}-.*Z$/) as unknown,
      actor: "admin",
      changes: [{ path: "routes[alarms].policy.max_in_flight", before: 21, after: 22 }],
      available: true,
    });
  });

  it("is 404 where none is kept", async () => {
    await using admin = await startTransactional({
      store: (store) => {
        const { history: _, ...rest } = storeWith({})(store);
        return rest;
      },
    });
    expect(await admin.call("GET", "/config/history")).toMatchObject({
      status: 404,
      body: error("no configuration history"),
    });
  });
});

describe("audit", () => {
  it("has every action with its outcome, the transaction and no value", async () => {
    await using admin = await startTransactional();
    await admin.call("GET", "/config");
    await admin.call("GET", "/config/history");
    const path = await admin.opened({ http: { admin_api_key: "cAnArY-0123456789", tls_cert_file: "cAnArY" } });
    await admin.call("GET", path);
    await admin.call("PATCH", path, { cAnArY: "cAnArY" });
    await admin.call("POST", `${path}/validate`);
    await admin.call("POST", `${path}/commit`);
    await admin.call("DELETE", path);
    await admin.call("POST", `${await admin.opened(DEBUG)}/commit`);
    const id = path.split("/").at(-1);
    const seen = admin.events
      .filter(({ outcome }) => outcome !== "pending")
      .map(({ action, outcome, resource_type, resource_id }) => [
        `${action} ${outcome}`,
        resource_type,
        resource_id === id,
      ]);
    expect(seen.slice(0, 9)).toEqual([
      ["config.read success", "config", false],
      ["config.history success", "config", false],
      ["config.txn.create success", "config", false],
      ["config.txn.patch success", "config", true],
      ["config.txn.read success", "config", true],
      ["config.txn.patch failure", "config", true],
      ["config.txn.validate success", "config", true],
      ["config.txn.commit failure", "config", true],
      ["config.txn.rollback success", "config", true],
    ]);
    expect(admin.events.at(-1)).toMatchObject({
      action: "config.txn.commit",
      outcome: "success",
      detail: { status: "committed", version: 1 },
    });
  });
});

describe("secrets", () => {
  it("planted everywhere appear in no answer, record or log", async () => {
    const canary = "cAnArY-0123456789-abcdef";
    await using admin = await startTransactional({
      document: { http: { admin_api_key: canary, monitor_api_key: "${env:KEY}", tls_cert_file: "${env:KEY}" } },
      env: { KEY: canary },
      applier: applierWith(() =>
        Promise.reject(new Error(`login ${canary} failed at https://me:${canary}@example.com`)),
      ),
      store: storeWith({ restore: () => Promise.reject(new Error(canary)) }),
    });
    const answers: unknown[] = [(await admin.call("GET", "/config")).body];
    const path = await admin.opened();
    for (const overlay of [
      { http: { admin_api_key: `${canary}-new` } },
      { http: { admin_api_key: "cAnArY" } },
      { http: { admin_api_key: ["cAnArY"] } },
      { bindings: [{ id: "alarms", address: `https://me:${canary}@example.com` }] },
    ])
      answers.push((await admin.call("PATCH", path, overlay)).body);
    answers.push(
      (await admin.call("POST", `${path}/validate`)).body,
      (await admin.call("POST", `${path}/commit`)).body,
    );
    await admin.call("PATCH", path, { http: { admin_api_key: `${canary}-new`, tls_key_file: "x" } });
    const committed = await admin.call("POST", `${path}/commit`);
    expect(committed).toMatchObject({ status: 500, body: { status: "committed_not_applied" } });
    answers.push(committed.body, (await admin.call("GET", "/config/history")).body);
    const text = JSON.stringify([answers, admin.events, admin.errors]);
    expect(text).toContain("[REDACTED]");
    expect(text).not.toContain("cAnArY");
    expect(text).not.toContain(ADMIN_KEY);
  });
});
