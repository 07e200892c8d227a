import { createAuditor } from "@bridge/audit";
import { type Clock, silentLogger, systemClock } from "@bridge/ports";
import { type Context, Hono } from "hono";
import { setCookie } from "hono/cookie";
import { describe, expect, it, test } from "vitest";
import { type Authenticate, type Caller, createAdminApp, type Permission, PERMISSIONS } from "../src/index.ts";
import { ADMIN_KEY, startAdmin } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";
import { CALLS, CONFIG_CALLS } from "./calls.ts";
import { startTransactional } from "./transactional.ts";

/** What each call needs, by its action. */
const NEEDS: Readonly<Record<string, Permission>> = {
  "bridge.start": "bridge.control",
  "bridge.stop": "bridge.control",
  "route.inject": "message.inject",
  "route.pause": "route.pause",
  "route.resume": "route.pause",
  "dlq.read_payload": "payload.read",
  "dlq.redrive": "dlq.redrive",
  "dlq.edit": "dlq.redrive",
  "dlq.import": "dlq.edit",
  "dlq.delete": "dlq.delete",
  "dlq.delete_by_filter": "dlq.delete",
  "dlq.purge": "dlq.purge",
  "dlq.annotate": "dlq.annotate",
  "dlq.acknowledge_damage": "damage.acknowledge",
  "outbox.acknowledge_damage": "damage.acknowledge",
  "outbox.dead_letter": "outbox.move",
  "config.document.read": "config.write",
  "config.confirm": "config.write",
  "config.revert": "config.write",
  "config.txn.create": "config.write",
  "config.txn.read": "config.write",
  "config.txn.patch": "config.write",
  "config.txn.document": "config.write",
  "config.txn.diff": "config.write",
  "config.txn.validate": "config.write",
  "config.txn.commit": "config.write",
  "config.txn.rollback": "config.write",
};

/** Believes what a caller says of itself in the header `as`. */
function believing(permissions: readonly Permission[]): Authenticate {
  return ({ req }) => {
    const name = req.header("as");
    return name === undefined ? undefined : { name, permissions };
  };
}

const as = (name: string): RequestInit => ({ headers: { as: name } });
const needed = ({ action }: { readonly action: string }): Permission => NEEDS[action] ?? "read";

const CREDENTIAL = "QwErTy-canary";

describe("an authentication of the program's own", () => {
  it("lets in whoever it knows, and audit records name them", async () => {
    await using admin = await startAdmin({ keys: undefined, authenticate: believing(PERMISSIONS) });
    expect((await admin.call("GET", "/bridge", undefined, as("alice@example.com"))).status).toBe(200);
    const refused = await admin.call("GET", "/bridge");
    expect([refused.status, refused.body]).toEqual([401, { error: "not authenticated" }]);
    expect(admin.events.map(({ action, actor }) => [action, actor])).toEqual([
      ["bridge.status", "alice@example.com"],
      ["auth.failure", "127.0.0.1"],
    ]);
  });

  it.each(CALLS.filter(({ path }) => path !== "/session"))(
    "$action: needs its permission and no other",
    async (call) => {
      const { method, path, body, action } = call;
      const needs = needed(call);
      await using others = await startAdmin({
        outbox: true,
        keys: undefined,
        authenticate: async (context) => believing(PERMISSIONS.filter((one) => one !== needs))(context),
      });
      await keep(others, deadLetter("e1"));
      const refused = await others.call(method, path, body, as("bob"));
      const error = `"bob" may not do this: it needs ${needs}`;
      expect([refused.status, refused.body]).toEqual([403, { error, reason: "permission", needs }]);
      expect(others.events).toMatchObject([
        { action, actor: "bob", outcome: "failure", detail: { status: 403, error, reason: "permission", needs } },
      ]);
      await using admin = await startAdmin({ outbox: true, keys: undefined, authenticate: believing([needs]) });
      await keep(admin, deadLetter("e1"));
      expect((await admin.call(method, path, body, as("bob"))).status).not.toBe(403);
    },
  );

  it.each(CONFIG_CALLS)("$action: needs its permission", async (call) => {
    const needs = needed(call);
    const authenticate = believing(PERMISSIONS.filter((one) => one !== needs));
    await using admin = await startTransactional({ authenticate });
    const path = call.path.replace("{txnID}", "t1");
    expect(await admin.call(call.method, path, call.body, as("bob"))).toMatchObject({
      status: 403,
      body: { error: `"bob" may not do this: it needs ${needs}`, needs },
    });
  });

  it("a filter that matches every dead letter is a purge", async () => {
    const authenticate: Authenticate = ({ req }) => ({
      name: "bob",
      permissions: req.header("as") === "purger" ? ["dlq.delete", "dlq.purge"] : ["dlq.delete"],
    });
    await using admin = await startAdmin({ keys: undefined, authenticate });
    await keep(admin, deadLetter("e1"));
    const all = { confirm_delete_all: true };
    expect(await admin.call("POST", "/dlq/delete-by-filter", all, as("bob"))).toMatchObject({
      status: 403,
      body: { needs: "dlq.purge" },
    });
    expect(await admin.call("POST", "/dlq/delete-by-filter", all, as("purger"))).toMatchObject({
      status: 200,
      body: { deleted: 1 },
    });
  });

  test.each<[string, () => unknown, string]>([
    [
      "throws",
      () => {
        throw new RangeError(`no such token: ${CREDENTIAL}`);
      },
      "RangeError\n    at ",
    ],
    [
      "rejects with a cause",
      () => {
        const away = Object.assign(new Error(`ldap://bob:${CREDENTIAL}@ldap`), { code: "ECONNREFUSED" });
        return Promise.reject(new Error(`bind as ${CREDENTIAL} failed`, { cause: away }));
      },
      "caused by Error [ECONNREFUSED]\n    at ",
    ],
    ["rejects with a text", () => Promise.reject(CREDENTIAL), "thrown: string"],
    ["rejects with nothing", () => Promise.reject(undefined), "thrown: undefined"],
    ["answers with null", () => null, "answered with no caller"],
    ["answers with no name", () => ({ name: "", permissions: [] }), "a name that is not"],
    ["answers with a name of two lines", () => ({ name: "a\nb", permissions: [] }), "a name that is not"],
    ["answers with no permissions", () => ({ name: "a" }), "permissions that are no list"],
    [
      "knows permissions that there are not",
      () => ({ name: "a", permissions: ["dlq.redriv"] }),
      '"dlq.redriv": there are read, ',
    ],
    [
      "takes a credential for a permission",
      () => ({ name: "a", permissions: [CREDENTIAL] }),
      "a string: there are read, ",
    ],
  ])("one that %s lets nobody in, and tells only the log why", async (_, authenticate, told) => {
    await using admin = await startAdmin({ keys: undefined, authenticate: authenticate as Authenticate });
    const refused = await admin.call("GET", "/bridge", undefined, as("bob"));
    expect([refused.status, refused.body]).toEqual([503, { error: "authentication is not available" }]);
    expect(admin.errors).toMatchObject([
      { message: "authenticate failed: the request is refused", error: expect.stringContaining(told) as string },
    ]);
    expect(JSON.stringify(admin.errors)).not.toContain(CREDENTIAL);
    expect(admin.events).toEqual([]);
  });

  it("one that does not answer is waited for 10 s, and asked for no more than 100 at once", async () => {
    let pass: (() => void) | undefined;
    const waits: number[] = [];
    const clock: Clock = {
      ...systemClock,
      delay: (ms, signal) => {
        waits.push(ms);
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        pass = resolve;
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
        return promise;
      },
    };
    const answer = Promise.withResolvers<Caller>();
    let asked = 0;
    let called = Promise.withResolvers<void>();
    const authenticate = (): Promise<Caller> => {
      asked++;
      called.resolve();
      return answer.promise;
    };
    await using admin = await startAdmin({ keys: undefined, authenticate, clock });
    const refused = { status: 503, body: { error: "authentication is not available" } };
    for (let at = 0; at < 100; at++) {
      called = Promise.withResolvers();
      const call = admin.call("GET", "/bridge");
      await called.promise;
      pass?.();
      expect(await call).toMatchObject(refused);
    }
    expect(await admin.call("GET", "/bridge")).toMatchObject(refused);
    expect([asked, ...new Set(waits)]).toEqual([100, 10_000]);
    answer.resolve({ name: "late", permissions: ["read"] });
    await expect.poll(async () => (await admin.call("GET", "/bridge")).status).toBe(200);
  });

  describe.each<[string, (context: Context) => void]>([
    [
      "hono's helpers",
      (context) => {
        setCookie(context, "session", "renewed", { path: "/", httpOnly: true });
        setCookie(context, "theme", "dark");
        context.header("X-Rate-Limit", "7");
        context.header("Vary", "Cookie");
        context.header("Cache-Control", "public");
      },
    ],
    [
      "the answer's headers",
      ({ res: { headers } }) => {
        headers.append("Set-Cookie", "session=renewed; Path=/; HttpOnly");
        headers.append("Set-Cookie", "theme=dark; Path=/");
        headers.set("X-Rate-Limit", "7");
        headers.set("Vary", "Cookie");
        headers.set("Cache-Control", "public");
      },
    ],
  ])("headers that it sets with %s", (_, set) => {
    test.each<[number, string, string, ((context: Context) => unknown)?]>([
      [200, "GET", "/bridge"],
      [200, "HEAD", "/bridge"],
      [200, "GET", "/openapi.json"],
      [400, "POST", "/dlq/redrive"],
      [404, "GET", "/nowhere"],
      [405, "POST", "/bridge"],
      [401, "GET", "/bridge", () => undefined],
      [403, "GET", "/bridge", () => ({ name: "bob", permissions: [] })],
      [
        503,
        "GET",
        "/bridge",
        () => {
          throw new Error("LDAP is away");
        },
      ],
    ])("go with an answer %d to %s %s, beside the server's own", async (status, method, path, then) => {
      const authenticate = (context: Context): unknown => {
        set(context);
        return then === undefined ? { name: "bob", permissions: PERMISSIONS } : then(context);
      };
      await using admin = await startAdmin({
        keys: undefined,
        authenticate: authenticate as Authenticate,
        corsOrigins: ["https://ops.example"],
      });
      const response = await fetch(`${admin.url}/api/v1/admin${path}`, { method });
      expect([response.status, response.headers.get("x-rate-limit")]).toEqual([status, "7"]);
      expect(response.headers.getSetCookie()).toEqual(["session=renewed; Path=/; HttpOnly", "theme=dark; Path=/"]);
      expect(response.headers.get("vary")).toBe("Cookie, Origin");
      expect(response.headers.get("cache-control")).toBe("no-store");
      expect(response.headers.get("content-type")).toBe("application/json");
      expect(response.headers.get("x-correlation-id")).toMatch(/./);
    });
  });

  it("whoever it does not know gets its challenge, or the server's where it has none", async () => {
    await using admin = await startAdmin({
      keys: undefined,
      authenticate: (context) => {
        if (context.req.header("as") === "basic") context.header("WWW-Authenticate", 'Basic realm="shop"');
        return undefined;
      },
    });
    const challenge = async (init?: RequestInit) =>
      (await admin.call("GET", "/bridge", undefined, init)).headers.get("www-authenticate");
    expect(await challenge(as("basic"))).toBe('Basic realm="shop"');
    expect(await challenge()).toBe('Bearer realm="bridge-admin"');
  });

  it("what an app in front of the server sets goes with the answer, whether before or after it", async () => {
    await using admin = await startAdmin();
    const auditor = createAuditor({ clock: systemClock, logger: silentLogger, sinks: [] });
    const app = new Hono();
    app.use(async (context, next) => {
      context.header("X-Before", "1");
      await next();
      context.header("X-After", "2");
    });
    app.route("/", createAdminApp({ supervisor: () => admin.supervisor, auditor, keys: { adminApiKey: ADMIN_KEY } }));
    const response = await app.request("/api/v1/admin/bridge", { headers: { "X-API-Key": ADMIN_KEY } });
    expect([response.status, await response.json()]).toMatchObject([200, { running: true }]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "x-before": "1",
      "x-after": "2",
      "cache-control": "no-store",
    });
  });

  it("stands in place of keys, and the OpenAPI document says so", async () => {
    await expect(startAdmin({ keys: undefined, started: false })).rejects.toThrow(
      "needs keys or a function authenticate",
    );
    await expect(startAdmin({ authenticate: believing([]), started: false })).rejects.toThrow("and not both");
    await using admin = await startAdmin({ keys: undefined, authenticate: believing(["read"]) });
    const { body } = await admin.call("GET", "/openapi.json", undefined, as("bob"));
    const { components, paths } = body as {
      readonly components: object;
      readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: object }>>>>;
    };
    expect(components).not.toHaveProperty("securitySchemes");
    expect(components).toMatchObject({
      schemas: { Forbidden: { required: ["error", "reason", "needs"], properties: { needs: { enum: PERMISSIONS } } } },
    });
    const redrive = paths["/api/v1/admin/dlq/redrive"]?.["post"];
    expect(redrive).not.toHaveProperty("security");
    expect(redrive?.responses).toMatchObject({
      401: { description: "You are not authenticated." },
      403: {
        description: expect.stringContaining("dlq.redrive") as string,
        content: { "application/json": { schema: { $ref: "#/components/schemas/Forbidden" } } },
      },
      503: { description: expect.stringContaining("Or: Authentication is not available.") as string },
    });
  });
});
