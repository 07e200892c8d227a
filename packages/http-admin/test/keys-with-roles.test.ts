import { describe, expect, it } from "vitest";
import { type Permission, PERMISSIONS, type Role, ROLES } from "../src/index.ts";
import { ADMIN_KEY, startAdmin } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";
import { CALLS } from "./calls.ts";

const ROLE_NAMES = Object.keys(ROLES) as Role[];
const shown = (key: string): RequestInit => ({ headers: { "X-API-Key": key } });
const keyOf = (name: string): string => `${name}-key-0123456789`;
const named = (name: string): RequestInit => shown(keyOf(name));

const ADMIN_KEYS = {
  adminApiKey: ADMIN_KEY,
  adminApiKeys: {
    plain: keyOf("plain"),
    ...Object.fromEntries(ROLE_NAMES.map((role) => [`a-${role}`, { key: keyOf(`a-${role}`), role }])),
    ...Object.fromEntries(PERMISSIONS.map((one) => [one, { key: keyOf(one), permissions: [one] }])),
  },
};

interface Operation {
  readonly "x-permission": readonly string[];
}

describe("operators 5.2: a key opens what its role or its permissions say", () => {
  it.each(CALLS)("$action", async ({ method, path, body, action }) => {
    await using admin = await startAdmin({ outbox: true, keys: ADMIN_KEYS });
    await keep(admin, deadLetter("e1"));
    const { paths } = (await admin.call("GET", "/openapi.json")).body as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    };
    const row = Object.entries(paths).find(([documented]) =>
      new RegExp(`^/api/v1/admin${path.replace(/(?<=routes\/)\w+|e1(?=$|\/)/, "\\{\\w+\\}")}$`).test(documented),
    );
    const [needs = "none"] = row?.[1][method.toLowerCase()]?.["x-permission"] ?? [];
    expect(["any", ...PERMISSIONS]).toContain(needs);
    const callers: readonly (readonly [string, readonly Permission[]])[] = [
      ["plain", PERMISSIONS],
      ...ROLE_NAMES.map((role) => [`a-${role}`, ROLES[role]] as const),
      ...PERMISSIONS.map((one) => [one, [one]] as const),
    ];
    for (const [name, permissions] of callers.toSorted((a, b) => a[1].length - b[1].length)) {
      const may = needs === "any" || permissions.includes(needs as Permission);
      const before = admin.events.length;
      const answer = await admin.call(method, path, body, named(name));
      if (may) {
        expect([name, answer.status]).not.toEqual([name, 403]);
        expect([name, answer.status]).not.toEqual([name, 500]);
        // Whatever it did stands in the way of the next.
        await keep(admin, deadLetter("e1")).catch(() => {});
        await admin.call("POST", "/bridge/start");
        await admin.call("POST", "/routes/alarms/resume");
        continue;
      }
      const error = `the key "${name}" may not do this: it needs ${needs}`;
      expect(answer).toMatchObject({ status: 403, body: { error, reason: "permission", needs } });
      expect(admin.events.slice(before)).toMatchObject([
        { action, actor: name, outcome: "failure", detail: { needs } },
      ]);
    }
  });

  it("a filter that matches every dead letter needs dlq.purge", async () => {
    await using admin = await startAdmin({ keys: ADMIN_KEYS });
    await keep(admin, deadLetter("e1"));
    const all = { confirm_delete_all: true };
    expect(await admin.call("POST", "/dlq/delete-by-filter", all, named("a-operator"))).toMatchObject({
      status: 403,
      body: { needs: "dlq.purge" },
    });
    expect(
      await admin.call("POST", "/dlq/delete-by-filter", { route_id: "alarms" }, named("a-operator")),
    ).toMatchObject({
      status: 200,
      body: { deleted: 1 },
    });
  });

  it.each([
    "/dlq/export?payload=true",
    "/dlq/export?payload=zz",
    "/dlq/export?payload=true&payload=false",
    "/dlq/export?payload=true&limit=x&nonsense=1",
    "/dlq/export?payload=%ff",
    "/routes/none/tail?payload=full",
    "/routes/alarms/tail?payload=zz",
    "/routes/alarms/tail?payload=full&rate=x",
  ])("who may not see payloads is told so before anything else that is wrong: %s", async (path) => {
    await using admin = await startAdmin({ keys: ADMIN_KEYS });
    for (const method of ["GET", "HEAD"] as const) {
      const answer = await admin.call(method, path, undefined, named("a-viewer"));
      expect(answer.status).toBe(403);
      if (method === "GET") expect(answer.body).toMatchObject({ reason: "permission", needs: "payload.read" });
    }
    expect((await admin.call("GET", path.replace(/(?<==)(true|full)(?=$|&)/, "maybe"))).status).not.toBe(403);
  });

  it("what shows no payload needs nothing more", async () => {
    await using admin = await startAdmin({ keys: ADMIN_KEYS });
    const ask = async (path: string) => (await admin.call("GET", path, undefined, named("a-viewer"))).status;
    expect(await ask("/dlq/export?payload=false")).toBe(200);
    expect(await ask("/dlq/export?payload=false&nonsense=1")).toBe(400);
    expect(await ask("/routes/none/tail?payload=none")).toBe(404);
  });

  it("each row but open ones says in the OpenAPI document which permissions may be asked for", async () => {
    await using admin = await startAdmin({ keys: ADMIN_KEYS });
    const { paths } = (await admin.call("GET", "/openapi.json")).body as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    };
    for (const [path, operations] of Object.entries(paths))
      for (const operation of Object.values(operations)) {
        expect([path, operation["x-permission"].length]).not.toEqual([path, 0]);
        for (const permission of operation["x-permission"]) expect(["any", ...PERMISSIONS]).toContain(permission);
      }
    expect(paths["/api/v1/admin/dlq/delete-by-filter"]?.["post"]?.["x-permission"]).toEqual([
      "dlq.delete",
      "dlq.purge",
    ]);
    expect(paths["/api/v1/admin/session"]?.["get"]?.["x-permission"]).toEqual(["any"]);
  });
});

describe("operators 5.2: a key is told who it is", () => {
  it.each([
    [ADMIN_KEY, { actor: "admin", role: "admin", permissions: PERMISSIONS }],
    [keyOf("plain"), { actor: "plain", role: "admin", permissions: PERMISSIONS }],
    [keyOf("a-viewer"), { actor: "a-viewer", role: "viewer", permissions: ["read"] }],
    [keyOf("dlq.redrive"), { actor: "dlq.redrive", permissions: ["dlq.redrive"] }],
  ])("%#", async (key, who) => {
    await using admin = await startAdmin({ keys: ADMIN_KEYS });
    expect(await admin.call("GET", "/session", undefined, shown(key))).toMatchObject({
      status: 200,
      body: { ...who, instance_id: admin.supervisor.instanceId },
    });
    const { body } = await admin.call("GET", "/session", undefined, shown(key));
    expect(Object.hasOwn(body as object, "role")).toBe("role" in who);
  });

  it("before the process has a bridge too", async () => {
    await using admin = await startAdmin({ keys: ADMIN_KEYS, seenAs: () => undefined });
    expect((await admin.call("GET", "/session")).body).toEqual({
      actor: "admin",
      role: "admin",
      permissions: PERMISSIONS,
    });
  });
});

describe("a key that opens what is not understood is refused", () => {
  it.each<[unknown, string]>([
    [{ key: keyOf("x") }, 'the API key "bob" needs either a role or permissions'],
    [{ key: keyOf("x"), role: "viewer", permissions: ["read"] }, "needs either a role or permissions"],
    [{ key: keyOf("x"), role: "root" }, "has a role that is none: there are viewer, operator, admin"],
    [{ key: keyOf("x"), role: "constructor" }, "has a role that is none"],
    [{ key: keyOf("x"), permissions: [] }, "has permissions that are no list of permissions"],
    [{ key: keyOf("x"), permissions: ["raed"] }, "there are read, payload.read"],
    [{ key: keyOf("x"), permissions: "read" }, "has permissions that are no list"],
    [{ key: keyOf("x"), roles: "viewer" }, "has a field that is none: there are key, role, permissions"],
    [{ role: "viewer" }, "is of type undefined: give it a string"],
    [{ key: "short", role: "viewer" }, "is too short"],
    [null, "is of type object: give it a string"],
  ])("%j", async (bob, message) => {
    const keys = { adminApiKeys: { bob: bob as string } };
    const failed = await startAdmin({ keys, started: false }).then(
      () => "it was taken",
      (error: unknown) => String(error),
    );
    expect(failed).toContain(message);
    expect(failed).not.toContain("0123456789");
  });
});
