import { announce } from "@bridge/tooling/announce";
import { silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { createKeyring, HttpError, serve } from "../src/index.ts";
import { KEY, manualClock, openEndpoint, startServer, thingEndpoints } from "./server.ts";

const closed = (): never => {
  throw new HttpError(503, "the shop is closed");
};

describe("contract 2: the order of checks", () => {
  it("without a key everything is 401, an unknown path, a wrong method and a large body too", async () => {
    await using server = await startServer({ endpoints: thingEndpoints(closed), throttle: { limit: 100 } });
    const requests: [string, RequestInit][] = [
      ["/api/v1/admin/things/1", {}],
      ["/api/v1/admin/nowhere", {}],
      ["/nowhere", {}],
      ["/api/v1/openapi.json", {}],
      ["/api/v1/admin/things/1", { method: "DELETE" }],
    ];
    const answers = requests.map(([path, init]) => fetch(server.url + path, init));
    for (const response of await Promise.all([...answers, announce(`${server.url}/api/v1/admin/things`, {})])) {
      expect(response.status).toBe(401);
      expect(await response.json()).toEqual({ error: "invalid or missing API key" });
      expect(response.headers.get("WWW-Authenticate")).toBe('Bearer realm="bridge-admin"');
    }
  });

  it("then an unknown path is 404", async () => {
    await using server = await startServer({ endpoints: thingEndpoints(closed) });
    for (const path of ["/", "/api/v1/admin/things/1/2", "/api/v1/admin/things/", "/API/v1/admin/poke"]) {
      const response = await server.announce(path);
      expect([path, response.status]).toEqual([path, 404]);
      expect(await response.json()).toEqual({ error: "not found" });
    }
  });

  it("spec 4.2: then a wrong method is 405 with the methods of the path, HEAD beside GET", async () => {
    await using server = await startServer({ endpoints: thingEndpoints(closed) });
    const wrongPost = await server.announce("/api/v1/admin/things/1");
    expect([wrongPost.status, wrongPost.headers.get("Allow")]).toEqual([405, "GET, HEAD"]);
    expect(await wrongPost.json()).toEqual({ error: "method not allowed" });
    for (const method of ["GET", "HEAD", "PUT", "OPTIONS", "DELETE"]) {
      const response = await server.call("/api/v1/admin/things", { method });
      expect([method, response.status, response.headers.get("Allow")]).toEqual([method, 405, "POST"]);
    }
  });

  it("then the guard speaks, before the body is looked at", async () => {
    await using server = await startServer({ endpoints: thingEndpoints(closed) });
    const response = await server.announce("/api/v1/admin/things");
    expect([response.status, await response.json()]).toEqual([503, { error: "the shop is closed" }]);
  });

  it("then a large body is 413, then a malformed one 400, then the work is done", async () => {
    await using server = await startServer();
    const post = async (body: string): Promise<[number, unknown]> => {
      const response = await server.call("/api/v1/admin/things", { method: "POST", body });
      return [response.status, await response.json()];
    };
    expect((await server.announce("/api/v1/admin/things")).status).toBe(413);
    expect(await post("{")).toMatchObject([400, { error: expect.stringMatching(/^invalid request body: /) as string }]);
    expect(await post('{"names":["a"]}')).toEqual([200, { written: 1 }]);
  });

  it("contract 2: HEAD answers as GET does, without a body", async () => {
    await using server = await startServer();
    const got = await server.call("/api/v1/admin/things/1?limit=3");
    const head = await server.call("/api/v1/admin/things/1?limit=3", { method: "HEAD" });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe("");
    expect(head.headers.get("Content-Type")).toBe(got.headers.get("Content-Type"));
    expect((await server.call("/api/v1/admin/things/none", { method: "HEAD" })).status).toBe(404);
  });

  it("a server with an open endpoint answers unknown paths to anybody, and open endpoints without a key", async () => {
    await using server = await startServer({ endpoints: [...thingEndpoints(), openEndpoint] });
    expect((await fetch(`${server.url}/nowhere`)).status).toBe(404);
    const open = await fetch(`${server.url}/api/v1/admin/open`);
    expect([open.status, await open.text(), open.headers.get("Content-Type")]).toEqual([200, "hello", "text/plain"]);
    expect((await fetch(`${server.url}/api/v1/admin/open`, { method: "POST" })).status).toBe(405);
    expect((await fetch(`${server.url}/api/v1/admin/poke`, { method: "POST" })).status).toBe(401);
  });
});

describe("contract 3: authentication", () => {
  it("takes the key from X-API-Key and from Authorization: Bearer", async () => {
    await using server = await startServer();
    for (const headers of [{ "X-API-Key": KEY }, { Authorization: `Bearer ${KEY}` }])
      expect((await server.call("/api/v1/admin/things/1", { headers })).status).toBe(200);
    expect((await server.call("/api/v1/admin/things/1", { headers: { Authorization: `Basic ${KEY}` } })).status).toBe(
      401,
    );
  });

  it("the sixth failure in a minute is 429 with Retry-After, a valid key is heard all the same and resets the count", async () => {
    const clock = manualClock();
    await using server = await startServer({ clock });
    const wrong = (): Promise<Response> => server.call("/api/v1/admin/things/1", { headers: { "X-API-Key": "wrong" } });
    for (let n = 0; n < 5; n++) expect((await wrong()).status).toBe(401);
    clock.advance(1_500);
    const throttled = await wrong();
    expect([throttled.status, throttled.headers.get("Retry-After")]).toEqual([429, "59"]);
    expect(await throttled.json()).toEqual({ error: "too many failed authentication attempts" });
    expect((await server.call("/api/v1/admin/things/1")).status).toBe(200);
    expect((await wrong()).status).toBe(401);
  });

  it("a client is its TCP peer, whatever X-Forwarded-For says", async () => {
    await using server = await startServer();
    const statuses: number[] = [];
    for (let n = 0; n < 7; n++) {
      const headers = { "X-API-Key": "wrong", "X-Forwarded-For": `203.0.113.${n}` };
      statuses.push((await server.call("/api/v1/admin/poke", { method: "POST", headers })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
  });

  it("knows an IPv4 peer by its own notation, on a socket for both families too", async () => {
    await using server = await startServer({ addr: ":0" });
    await fetch(`http://127.0.0.1:${server.port}/api/v1/admin/poke`);
    expect(server.entries).toMatchObject([{ actor: "127.0.0.1", mergeKey: "127.0.0.1" }]);
  });

  it("records failures with the peer as actor and one merge key a client", async () => {
    await using server = await startServer({ throttle: { limit: 1 } });
    for (let n = 0; n < 2; n++)
      await fetch(`${server.url}/api/v1/admin/things/1`, { headers: { "X-Forwarded-For": "203.0.113.9" } });
    expect(server.entries).toEqual(
      ["auth.failure", "auth.throttled"].map((action) => ({
        action,
        actor: "127.0.0.1",
        outcome: "failure",
        clientAddr: "203.0.113.9",
        resourceType: "admin",
        mergeKey: "127.0.0.1",
      })),
    );
  });
});

describe("spec 6: what is recorded of calls", () => {
  it("each call under its action and the key's name, a refusal as a failure with its status", async () => {
    await using server = await startServer();
    await server.call("/api/v1/admin/things/7");
    await server.call("/api/v1/admin/things/none");
    await server.call("/api/v1/admin/things", { method: "PUT" });
    await server.call("/api/v1/openapi.json");
    const by = { actor: "alice", clientAddr: "127.0.0.1" };
    expect(server.entries).toEqual([
      { ...by, action: "thing.read", outcome: "success", resourceId: "7" },
      {
        ...by,
        action: "thing.read",
        outcome: "failure",
        resourceId: "none",
        detail: { status: 404, error: "thing not found" },
      },
      {
        ...by,
        action: "thing.write",
        outcome: "failure",
        resourceId: "",
        detail: { status: 405, error: "method not allowed" },
        refused: true,
      },
      { ...by, action: "api.describe", outcome: "success", resourceId: "" },
    ]);
  });

  it.each(["no room", "the begin waits"])(
    "finding 5.2: a change is refused and not made while the audit log cannot keep up: %s",
    async (kind) => {
      const audit = {
        record: async ({ action }: { readonly action: string }) => action !== "thing.batch",
        hasRoomFor: async (action: string) => kind !== "no room" || action !== "thing.write",
      };
      await using server = await startServer({ audit });
      const response = await server.call("/api/v1/admin/things", { method: "POST", body: '{"names":["a","bad"]}' });
      expect(response.status).toBe(503);
      expect(response.headers.get("Retry-After")).toBe("5");
      expect(await response.json()).toEqual({
        error: "the audit log cannot be written, or not in time: nothing was done; deep health says why, try again",
      });
      expect((await server.call("/api/v1/admin/things/7")).status).toBe(200);
    },
  );

  it("contract 6: what changes something is recorded as pending before the work, and with its outcome after it", async () => {
    await using server = await startServer();
    const response = await server.call("/api/v1/admin/things", { method: "POST", body: '{"names":["a","bad"]}' });
    expect(response.status).toBe(207);
    expect(server.entries).toMatchObject([
      { action: "thing.batch", outcome: "pending", detail: { names: 2 } },
      { action: "thing.write", outcome: "partial_failure", detail: { written: 1 } },
    ]);
  });

  it("a resource id that a caller made up is cut", async () => {
    await using server = await startServer();
    await server.call(`/api/v1/admin/things/${"x".repeat(5_000)}`);
    expect(server.entries[0]?.resourceId).toHaveLength(256);
  });
});

describe("contract 3: what every response carries", () => {
  it("security headers, no caching unless the endpoint says so, and a correlation id", async () => {
    await using server = await startServer({ endpoints: [...thingEndpoints(), openEndpoint] });
    for (const path of ["/api/v1/admin/things/1", "/api/v1/admin/things/bug", "/nowhere", "/api/v1/admin/open"]) {
      const { headers } = await server.call(path);
      expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
      expect(headers.get("Referrer-Policy")).toBe("no-referrer");
      expect(headers.get("X-Frame-Options")).toBe("DENY");
      expect(headers.get("Cache-Control")).toBe(path.endsWith("open") ? "no-cache, max-age=0" : "no-store");
      expect(headers.get("X-Correlation-ID")).toMatch(/^[\w-]{16,}$/);
    }
  });

  it("the request's own correlation id when it is well formed", async () => {
    await using server = await startServer();
    const sent = async (id: string): Promise<string | null> => {
      const response = await server.call("/nowhere", { headers: { "X-Correlation-ID": id } });
      return response.headers.get("X-Correlation-ID");
    };
    expect(await sent("order-17/a:b")).toBe("order-17/a:b");
    for (const malformed of ["", "a b", "é", "x".repeat(129), "a\tb"]) {
      const received = await sent(malformed);
      expect(received).not.toBe(malformed);
      expect(received).toMatch(/^[\w-]{16,}$/);
    }
  });
});

describe("an unexpected error", () => {
  it("is 500 internal error, and the log says where, without what the error quotes", async () => {
    await using server = await startServer();
    const response = await server.call("/api/v1/admin/things/bug", {
      headers: { "X-API-Key": KEY, "X-Correlation-ID": "c-1" },
    });
    expect([response.status, await response.json()]).toEqual([500, { error: "internal error" }]);
    expect(server.errors).toHaveLength(1);
    expect(server.errors[0]).toMatchObject({
      message: "request failed unexpectedly",
      path: "/api/v1/admin/things/{id}",
      correlation_id: "c-1",
      error: expect.stringMatching(/^TypeError\n {4}at .*server\.ts\S*:\d+:\d+\)?\n/) as string,
    });
    expect(JSON.stringify(server.errors)).not.toMatch(`${KEY}|cannot read what is not there`);
  });

  it("is what the server translates it to, if it knows it", async () => {
    await using server = await startServer({
      translate: (error) => (error instanceof TypeError ? new HttpError(409, "not now") : undefined),
    });
    expect((await server.call("/api/v1/admin/things/bug")).status).toBe(409);
    expect(server.errors).toEqual([]);
  });
});

describe("mounted in another app", () => {
  it("claims its own paths only, and works without a socket", async () => {
    const outer = new Hono();
    outer.get("/mine", (context) => context.text("mine"));
    const actors: string[] = [];
    const app = serve({
      server: "admin",
      endpoints: thingEndpoints(),
      describe: { access: "admin" },
      keyring: createKeyring([{ name: "alice", key: KEY }]),
      audit: { record: async (entry) => actors.push(entry.actor) > 0, hasRoomFor: async () => true },
      clock: systemClock,
      random: systemRandom(),
      logger: silentLogger,
    });
    outer.route("/ops", app);
    outer.get("/also", (context) => context.text("also"));
    const headers = { "X-API-Key": KEY };
    expect((await outer.request("/mine")).status).toBe(200);
    expect((await outer.request("/also")).status).toBe(200);
    const read = await outer.request("/ops/api/v1/admin/things/4", { headers });
    expect(await read.json()).toEqual({ id: "4", limit: 7 });
    const unknown = await outer.request("/ops/api/v1/admin/nowhere", { headers });
    expect([unknown.status, await unknown.json()]).toEqual([404, { error: "not found" }]);
    expect((await outer.request("/ops/api/v1/admin/things/4", { method: "PUT", headers })).status).toBe(405);
    expect((await outer.request("/ops/api/v1/openapi.json", { headers })).status).toBe(200);
    expect((await outer.request("/ops/api/v1/admin/things/4")).status).toBe(401);
    expect(actors).toContain("unknown");
  });
});
