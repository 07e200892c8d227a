import { Documented, type OpenApiDocument } from "@bridge/http-kit/documented";
import { BridgeError } from "@bridge/ports";
import { announce } from "@bridge/tooling/announce";
import { describe, expect, it } from "vitest";
import { type Admin, ADMIN_KEY, startAdmin, TOO_LARGE } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";
import { problemWith } from "./json-schema.ts";
import { stuck } from "./stuck.ts";

/** Each endpoint with the statuses that are shown here, besides 401 and 429. */
const SHOWN = {
  "GET /api/v1/admin/session": [200, 403],
  "POST /api/v1/admin/session": [201, 413, 503],
  "DELETE /api/v1/admin/session": [200, 403, 503],
  "GET /api/v1/admin/bridge": [200, 503],
  "POST /api/v1/admin/bridge/start": [200, 409, 413, 500, 503],
  "GET /api/v1/admin/routes": [200, 503],
  "POST /api/v1/admin/routes/{routeID}/inject": [200, 400, 404, 409, 413, 422, 503],
  "POST /api/v1/admin/routes/{routeID}/pause": [200, 404, 413, 503],
  "POST /api/v1/admin/routes/{routeID}/resume": [200, 404, 413, 503],
  "GET /api/v1/admin/topology": [200, 503],
  "GET /api/v1/admin/events": [200, 400, 503],
  "GET /api/v1/admin/series": [200, 400, 404],
  "GET /api/v1/admin/conditions": [200],
  "GET /api/v1/admin/audit": [200, 400, 404],
  "POST /api/v1/admin/audit/verify": [200, 404, 413],
  "GET /api/v1/admin/routes/{routeID}/tail": [200, 400, 404, 503],
  "GET /api/v1/admin/messages/{envelopeID}": [200, 503],
  "GET /api/v1/admin/messages": [200, 400, 503],
  "GET /api/v1/admin/dlq": [200, 404, 500, 503],
  "GET /api/v1/admin/dlq/summary": [200, 400, 404, 500, 503],
  "POST /api/v1/admin/dlq/annotate": [200, 400, 404, 413, 500, 503],
  "GET /api/v1/admin/dlq/messages": [200, 400, 404, 500, 503],
  "GET /api/v1/admin/dlq/messages/{id}": [200, 404, 500, 503],
  "GET /api/v1/admin/dlq/export": [200, 400, 404, 500, 503],
  "POST /api/v1/admin/dlq/import": [200, 207, 400, 404, 413, 503],
  "POST /api/v1/admin/dlq/redrive": [200, 207, 400, 404, 413, 503],
  "POST /api/v1/admin/dlq/messages/{id}/redrive": [200, 400, 404, 409, 413, 422, 503],
  "POST /api/v1/admin/dlq/delete": [200, 400, 404, 413, 500, 503],
  "POST /api/v1/admin/dlq/delete-by-filter": [200, 400, 404, 413, 500, 503],
  "POST /api/v1/admin/dlq/purge": [200, 400, 404, 413, 500, 503],
  "POST /api/v1/admin/dlq/jobs": [201, 400, 404, 413, 503],
  "GET /api/v1/admin/dlq/jobs": [200, 400, 404, 503],
  "GET /api/v1/admin/dlq/jobs/{id}": [404, 503],
  "PATCH /api/v1/admin/dlq/jobs/{id}": [400, 404, 503],
  "POST /api/v1/admin/dlq/jobs/{id}/start": [400, 404, 413, 503],
  "POST /api/v1/admin/dlq/jobs/{id}/pause": [404, 413, 503],
  "POST /api/v1/admin/dlq/jobs/{id}/resume": [400, 404, 413, 503],
  "POST /api/v1/admin/dlq/jobs/{id}/cancel": [404, 413, 503],
  "POST /api/v1/admin/dlq/jobs/{id}/undo": [404, 413, 503],
  "POST /api/v1/admin/dlq/acknowledge-damage": [200, 404, 413, 503],
  "POST /api/v1/admin/outbox/acknowledge-damage": [200, 404, 413, 503],
  "GET /api/v1/admin/outbox": [200, 404, 503],
  "GET /api/v1/admin/outbox/messages": [200, 400, 404, 503],
  "GET /api/v1/admin/outbox/keys": [200, 400, 404, 503],
  "POST /api/v1/admin/outbox/dead-letter": [200, 207, 400, 404, 413, 503],
  "GET /api/v1/openapi.json": [200],
  "GET /api/v1/admin/openapi.json": [200],
  // Last, as the others are shown on a bridge that runs.
  "POST /api/v1/admin/bridge/stop": [200, 413, 500, 503],
} as const;
const OPERATIONS = Object.keys(SHOWN);

const OUTBOX = OPERATIONS.filter((operation) => operation.includes("/outbox"));

/** A good body for each endpoint that takes one. */
const BODIES: Readonly<Record<string, object>> = {
  "POST /api/v1/admin/routes/{routeID}/inject": { subject: "s", headers: { a: "b" } },
  "POST /api/v1/admin/dlq/redrive": { ids: ["e1"] },
  "POST /api/v1/admin/dlq/messages/{id}/redrive": { reason: "r", subject: "s", headers: { a: "b" } },
  "POST /api/v1/admin/dlq/annotate": { ids: ["e1"], note: "asked", assignee: "alice", quarantined: false },
  "POST /api/v1/admin/dlq/delete": { ids: ["e1"] },
  "POST /api/v1/admin/dlq/delete-by-filter": { route_id: "alarms" },
  "POST /api/v1/admin/dlq/purge": { confirm_purge_all: true },
  "POST /api/v1/admin/dlq/jobs": { kind: "redrive", filter: {}, reason: "it is back" },
  "POST /api/v1/admin/dlq/jobs/{id}/start": { plan_hash: "0" },
  "POST /api/v1/admin/outbox/dead-letter": { ids: ["r1"] },
};

async function send(admin: Admin, operation: string, body: unknown = BODIES[operation], query = ""): Promise<Response> {
  const [method = "", template = ""] = operation.split(" ");
  const path = template.replace("{routeID}", "alarms").replaceAll(/\{\w+\}/g, "e1");
  const headers = { "X-API-Key": ADMIN_KEY };
  if (method === "POST" && body === TOO_LARGE) return announce(admin.url + path, { headers });
  return fetch(admin.url + path + query, {
    method,
    headers,
    ...(method === "POST" && body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
}

describe("the OpenAPI document of the admin server", () => {
  it("names every endpoint and no other, and every answer is as it says", async () => {
    await using admin = await startAdmin();
    const document = (await (await send(admin, "GET /api/v1/openapi.json")).json()) as OpenApiDocument;
    const documented = new Documented(document, problemWith);
    expect(documented.operations.toSorted()).toEqual(OPERATIONS.toSorted());
    const hold = async (on: Admin, operation: string, body?: unknown, query?: string): Promise<void> =>
      documented.hold(operation, await send(on, operation, body, query));
    const holdAll = async (on: Admin, body?: unknown, query?: string): Promise<void> => {
      for (const operation of OPERATIONS) await hold(on, operation, body, query);
    };
    const stop = "POST /api/v1/admin/bridge/stop";
    const inject = "POST /api/v1/admin/routes/{routeID}/inject";
    const importing = "POST /api/v1/admin/dlq/import";
    const redriveEntry = "POST /api/v1/admin/dlq/messages/{id}/redrive";

    // All is well, with an entry whose envelope has everything, and then without entries.
    const { envelope } = deadLetter("e1");
    for (const id of ["e1", "e2"])
      await keep(admin, deadLetter(id, { envelope: { ...envelope, expiresAt: Date.UTC(2100, 0) } }));
    await holdAll(admin);
    await hold(admin, "GET /api/v1/admin/messages", undefined, "?correlation_id=correlation-e1");
    await hold(admin, "GET /api/v1/admin/messages", undefined, "?envelope_id=envelope-e1");
    await admin.call("POST", "/bridge/start");
    await keep(admin, deadLetter("e1", { bindingId: "gone" }));
    await holdAll(admin);
    await admin.call("POST", "/bridge/start");

    // Bodies and queries are bad, too large or refused.
    await holdAll(admin, "{", "?limit=x");
    await admin.call("POST", "/bridge/start");
    await holdAll(admin, TOO_LARGE);
    admin.hub.channel("out").sends.failNext(1, new BridgeError("FORBIDDEN", "no"));
    await hold(admin, inject);
    await admin.call("POST", "/routes/alarms/pause");
    await hold(admin, inject);
    await hold(admin, "GET /api/v1/admin/routes");
    await keep(admin, deadLetter("e1"));
    for (const lines of ["", "x", "x\n".repeat(10_001)]) await hold(admin, importing, lines);
    await hold(admin, redriveEntry);
    await admin.call("POST", "/routes/alarms/resume");
    admin.hub.channel("out").sends.failNext(1, new BridgeError("FORBIDDEN", "no"));
    await hold(admin, redriveEntry);
    await hold(admin, redriveEntry);

    // The bridge is stopped, cannot stop, is beyond recovery; the store is away, or broken; there is none; there is no bridge.
    await hold(admin, stop);
    await holdAll(admin);
    await admin.call("POST", "/bridge/start");
    admin.faults.close = new Error("no");
    await hold(admin, stop);
    await hold(admin, "POST /api/v1/admin/bridge/start");
    for (const fault of [new BridgeError("UNAVAILABLE", "no"), new Error("no")]) {
      admin.faults.store = () => {
        throw fault;
      };
      await holdAll(admin);
    }
    await using storeless = await startAdmin({ store: "none" });
    await holdAll(storeless);
    await using readOnly = await startAdmin({ store: "read-only" });
    await holdAll(readOnly);
    await using bridgeless = await startAdmin({ seenAs: () => undefined });
    await holdAll(bridgeless);
    await storeless.call("POST", "/bridge/start");
    for (const verb of ["inject", "pause", "resume"]) {
      const missing = await fetch(`${storeless.url}/api/v1/admin/routes/nothing/${verb}`, {
        method: "POST",
        headers: { "X-API-Key": ADMIN_KEY },
      });
      await documented.hold(`POST /api/v1/admin/routes/{routeID}/${verb}`, missing);
    }

    const untailed = await fetch(`${storeless.url}/api/v1/admin/routes/nothing/tail`, {
      headers: { "X-API-Key": ADMIN_KEY },
    });
    await documented.hold("GET /api/v1/admin/routes/{routeID}/tail", untailed);

    await hold(admin, "GET /api/v1/admin/series", undefined, "?route_id=none");
    await using recorded = await startAdmin({
      history: {
        read: async () => ({ events: admin.events.slice(0, 2), next: "n", breakAt: 7 }),
        verify: async () => ({ records: 9, head: "0".repeat(64), problem: "record 7 was changed" }),
      },
    });
    await hold(recorded, "GET /api/v1/admin/audit");
    await hold(recorded, "GET /api/v1/admin/audit", undefined, "?limit=x");
    await hold(recorded, "POST /api/v1/admin/audit/verify");
    await hold(recorded, "POST /api/v1/admin/audit/verify", TOO_LARGE);

    // Another page has a session send it.
    const { headers: begun } = await admin.call("POST", "/session");
    const headers = { Cookie: begun.getSetCookie()[0] ?? "", "Sec-Fetch-Site": "cross-site" };
    for (const method of ["GET", "DELETE"]) {
      const foreign = await fetch(`${admin.url}/api/v1/admin/session`, { method, headers });
      await documented.hold(`${method} /api/v1/admin/session`, foreign);
    }

    // There is an outbox, with a record that waits for a retry; it is looked at in bad ways too, and before it is open.
    await using boxed = await startAdmin({ outbox: true });
    const id = await stuck(boxed);
    for (const operation of OUTBOX) {
      await hold(boxed, operation);
      await hold(boxed, operation, "{", "?limit=x");
      await hold(boxed, operation, TOO_LARGE);
    }
    await hold(boxed, "POST /api/v1/admin/outbox/dead-letter", { ids: [id] });
    await using closed = await startAdmin({ outbox: true, started: false });
    for (const operation of OUTBOX) await hold(closed, operation);

    // Starting takes too long.
    await using slow = await startAdmin({ started: false, operationTimeoutMs: 50 });
    slow.hub.channel("alarms").opens.hold();
    await hold(slow, "POST /api/v1/admin/bridge/start");

    // Nobody has a key.
    await using strange = await startAdmin({
      keys: { adminApiKey: "another-key-0123456789" },
      throttle: { limit: OPERATIONS.length },
    });
    await holdAll(strange);
    await holdAll(strange);

    const shown = Object.entries(SHOWN).flatMap(([operation, statuses]) =>
      [...statuses, 401, 429].map((status) => `${operation} ${status}`),
    );
    expect(shown.filter((answer) => !documented.seen.has(answer))).toEqual([]);
  });

  it("operators 5.4: says where a session opens something, and where only a key does", async () => {
    await using admin = await startAdmin();
    const { components, paths } = (await (await send(admin, "GET /api/v1/openapi.json")).json()) as {
      components: { securitySchemes: Record<string, object> };
      paths: Record<string, Record<string, { security: readonly object[]; "x-permission": readonly string[] }>>;
    };
    expect(components.securitySchemes["session"]).toMatchObject({ type: "apiKey", in: "cookie" });
    for (const [path, operations] of Object.entries(paths))
      for (const [method, { security }] of Object.entries(operations)) {
        const byKeyOnly = `${method} ${path}` === "post /api/v1/admin/session";
        expect([path, security]).toEqual([
          path,
          [{ apiKey: [] }, { bearer: [] }, ...(byKeyOnly ? [] : [{ session: [] }])],
        ]);
      }
    for (const method of ["get", "post", "delete"])
      expect(paths["/api/v1/admin/session"]?.[method]?.["x-permission"]).toEqual(["any"]);
  });

  it("gives named schemas and the limits of queries", async () => {
    await using admin = await startAdmin();
    const text = await (await send(admin, "GET /api/v1/openapi.json")).text();
    const { components, paths } = JSON.parse(text) as {
      components: { schemas: object };
      paths: Record<string, { get: { parameters: unknown } }>;
    };
    expect(Object.keys(components.schemas).toSorted()).toEqual([
      "AuditPage",
      "AuditVerification",
      "BridgeInfo",
      "Condition",
      "Conditions",
      "ConditionsEvent",
      "CorrelatedMessages",
      "Entry",
      "EntryGroups",
      "EntryHead",
      "EntryPage",
      "Error",
      "Forbidden",
      "Job",
      "JobSummary",
      "MessageTrace",
      "OutboxPage",
      "OutboxRecord",
      "Overview",
      "Route",
      "Series",
      "TailedLost",
      "TailedMessage",
      "Topology",
    ]);
    const parameters = paths["/api/v1/admin/dlq/messages"]?.get.parameters;
    for (const parameter of [
      { name: "limit", in: "query", schema: { type: "integer", minimum: 1, default: 100 } },
      { name: "offset", in: "query", schema: { type: "integer", minimum: 0, maximum: 100_000, default: 0 } },
      { name: "route_id", schema: { type: "string" } },
      { name: "category", schema: { type: "string" } },
      { name: "since", schema: { type: "string", format: "date-time" } },
      { name: "before", schema: { type: "string", format: "date-time" } },
    ])
      expect(parameters).toContainEqual(
        expect.objectContaining({ ...parameter, schema: expect.objectContaining(parameter.schema) as object }),
      );
  });
});
