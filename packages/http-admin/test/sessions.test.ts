import { type Caller, createKeyring, type Keyring, namedAdminKeys } from "@bridge/http-kit";
import { ManualClock } from "@bridge/tooling/manual-clock";
import { PATIENCE } from "@bridge/tooling/patience";
import { describe, expect, it, vi } from "vitest";
import { PERMISSIONS, type Permission, type Role, ROLES } from "../src/index.ts";
import { type Admin, ADMIN_KEY, type Answer, startAdmin, type StartOptions } from "./admin.ts";
import { deadLetter, keep, makeBridge } from "./bridge.ts";
import { Browser } from "./browser.ts";
import { CALLS } from "./calls.ts";

const shown = (key: string): RequestInit => ({ headers: { "X-API-Key": key } });
const keyOf = (name: string): string => `${name}-key-0123456789`;
const ROLE_NAMES = Object.keys(ROLES) as Role[];
const KEYS = {
  adminApiKey: ADMIN_KEY,
  adminApiKeys: {
    ...Object.fromEntries(ROLE_NAMES.map((role) => [`a-${role}`, { key: keyOf(`a-${role}`), role }])),
    ...Object.fromEntries(PERMISSIONS.map((one) => [one, { key: keyOf(one), permissions: [one] }])),
  },
};
const ATTRIBUTES = /^bridge-[0-9a-f]{8}=[\w.~-]+; HttpOnly; SameSite=Strict; Path=\/; Max-Age=3600$/;

async function signedIn(admin: Admin, key = ADMIN_KEY): Promise<Browser> {
  const browser = new Browser(admin.url);
  expect(browser.keep(await admin.call("POST", "/session", undefined, shown(key)))).toBe(true);
  return browser;
}

/** Keys that a test exchanges while they are used. */
function exchangeable(): Keyring & { inForce: Keyring } {
  const ring = {
    inForce: createKeyring(namedAdminKeys(KEYS)),
    identify: (key: string): Caller | string | undefined => ring.inForce.identify(key),
    holder: (name: string) => ring.inForce.holder?.(name),
  };
  return ring;
}

describe("operators 5.4: a browser signs in with a key once", () => {
  it("and is told who it is, until when, and by whom; the cookie then stands for the key", async () => {
    await using admin = await startAdmin({ keys: KEYS, version: "1.4.0" });
    const key = keyOf("a-operator");
    const answer = await admin.call("POST", "/session", undefined, shown(key));
    const you = {
      actor: "a-operator",
      role: "operator",
      permissions: ROLES.operator,
      instance_id: admin.supervisor.instanceId,
      version: "1.4.0",
    };
    expect(answer).toMatchObject({ status: 201, body: you });
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(ATTRIBUTES)]);
    expect(JSON.stringify([...answer.headers])).not.toContain(key);
    const browser = new Browser(admin.url);
    browser.keep(answer);
    const again = await admin.call("GET", "/session", undefined, browser.headers());
    expect(again).toMatchObject({ status: 200, body: answer.body as object });
    expect(
      Object.hasOwn((await admin.call("GET", "/session", undefined, shown(key))).body as object, "expires_at"),
    ).toBe(false);
    const { expires_at: until } = answer.body as { readonly expires_at: string };
    expect(Math.abs(Date.parse(until) - Date.now() - 12 * 3_600_000)).toBeLessThan(60_000);
    expect(admin.done().map(({ action, actor, detail }) => [action, actor, detail["via"]])).toEqual([
      ["session.create", "a-operator", undefined],
      ["session.read", "a-operator", "session"],
      ["session.read", "a-operator", undefined],
    ]);
  });

  it("signs out: the session is over at once, and the cookie is taken away", async () => {
    await using admin = await startAdmin();
    const browser = await signedIn(admin);
    const other = await signedIn(admin);
    const before = browser.cookie;
    const ended = await admin.call("DELETE", "/session", undefined, browser.headers());
    expect(ended).toMatchObject({ status: 200, body: { status: "ended" } });
    expect(ended.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^bridge-[0-9a-f]{8}=; HttpOnly; SameSite=Strict; Path=\/; Max-Age=0$/),
    ]);
    browser.cookie = before;
    expect((await admin.call("GET", "/bridge", undefined, browser.headers())).status).toBe(401);
    expect((await admin.call("GET", "/bridge", undefined, other.headers())).status).toBe(200);
    expect(admin.events.find(({ action }) => action === "session.end")).toMatchObject({ detail: { via: "session" } });
    // A key beside the cookie ends its session too: that is what was asked for.
    const withKey = { headers: { Cookie: other.cookie, "X-API-Key": ADMIN_KEY } };
    expect((await admin.call("DELETE", "/session", undefined, withKey)).status).toBe(200);
    expect((await admin.call("GET", "/bridge", undefined, other.headers())).status).toBe(401);
  });

  it("needs the key itself: a session begins no other", async () => {
    await using admin = await startAdmin();
    const browser = await signedIn(admin);
    expect((await admin.call("POST", "/session", undefined, browser.headers())).status).toBe(401);
  });

  it("a key in a header wins over a cookie, also when it is wrong", async () => {
    await using admin = await startAdmin({ keys: KEYS });
    const browser = await signedIn(admin, keyOf("a-viewer"));
    const both = (key: string): RequestInit => ({ headers: { Cookie: browser.cookie, "X-API-Key": key } });
    expect((await admin.call("GET", "/session", undefined, both(ADMIN_KEY))).body).toMatchObject({ actor: "admin" });
    // No header of the console: a key needs none.
    expect((await admin.call("POST", "/bridge/start", undefined, both(ADMIN_KEY))).status).toBe(200);
    expect((await admin.call("GET", "/session", undefined, both("wrong-key-0123456789"))).status).toBe(401);
  });

  it("before the process has a bridge there is none to be in", async () => {
    await using admin = await startAdmin({ seenAs: () => undefined });
    for (const method of ["POST", "DELETE"])
      expect(await admin.call(method, "/session")).toMatchObject({
        status: 503,
        body: { error: "runtime not available" },
      });
  });

  it.each<[string, StartOptions]>([
    ["that are turned off", { sessions: false }],
    ["of a ring without holders", { keys: { identify: (key) => (key === ADMIN_KEY ? "admin" : undefined) } }],
  ])("sessions %s are not there", async (_name, options) => {
    await using admin = await startAdmin(options);
    for (const method of ["POST", "DELETE"])
      expect(await admin.call(method, "/session")).toMatchObject({
        status: 405,
        body: { error: "method not allowed" },
      });
    expect((await admin.call("GET", "/session")).status).toBe(200);
    expect(JSON.stringify((await admin.call("GET", "/openapi.json")).body)).not.toContain('"cookie"');
  });
});

describe("operators 5.4: a session may what its key may", () => {
  it.each(CALLS.filter(({ path }) => path !== "/session"))("$method $path", async ({ method, path, body, action }) => {
    await using admin = await startAdmin({ outbox: true, keys: KEYS });
    await keep(admin, deadLetter("e1"));
    const callers: readonly (readonly [string, readonly Permission[]])[] = [
      ...ROLE_NAMES.map((role) => [`a-${role}`, ROLES[role]] as const),
      ...PERMISSIONS.map((one) => [one, [one]] as const),
    ];
    for (const [name] of callers.toSorted((a, b) => a[1].length - b[1].length)) {
      const browser = await signedIn(admin, keyOf(name));
      const before = admin.events.length;
      // Without the sign of our own page nothing is done, whatever the key may.
      const forged = await admin.call(method, path, body, browser.headers({ "X-Bridge-Console": "0" }));
      if (method === "GET") expect([name, forged.status]).not.toEqual([name, 401]);
      else {
        expect(forged).toMatchObject({ status: 403, body: { error: "cross-site request refused", reason: "csrf" } });
        expect(admin.events.slice(before)).toMatchObject([
          { action: "auth.failure", actor: name, outcome: "failure", detail: { reason: "csrf", via: "session" } },
        ]);
      }
      const bySession = await admin.call(method, path, body, browser.headers());
      const last = admin.events.findLast((event) => event.action === action);
      if (last !== undefined) expect(last).toMatchObject({ actor: name, detail: { via: "session" } });
      await restored(admin);
      const byKey = await admin.call(method, path, body, shown(keyOf(name)));
      await restored(admin);
      expect([name, bySession.status]).toEqual([name, byKey.status]);
      expect(bySession.status).not.toBe(401);
      expect(bySession.status).not.toBe(500);
    }
  });
});

/** Whatever a call has done stands in the way of the next. */
async function restored(admin: Admin): Promise<void> {
  await keep(admin, deadLetter("e1")).catch(() => {});
  await admin.call("POST", "/bridge/start");
  await admin.call("POST", "/routes/alarms/resume");
}

describe("operators 5.4: another page cannot act with a session", () => {
  const changes = (admin: Admin, headers: RequestInit) =>
    admin.call("POST", "/routes/alarms/pause", undefined, headers);

  it("a refusal is recorded, does not count towards 429, and comes after 404 and 405", async () => {
    await using admin = await startAdmin({ throttle: { limit: 1 } });
    const browser = await signedIn(admin);
    const forged = browser.headers({ Origin: "http://evil.test" });
    for (let n = 0; n < 5; n++) expect((await changes(admin, forged)).status).toBe(403);
    expect((await admin.call("POST", "/nowhere", undefined, forged)).status).toBe(404);
    expect((await admin.call("PUT", "/bridge", undefined, forged)).status).toBe(405);
    // As many failures as there may be are left.
    expect((await admin.call("GET", "/bridge", undefined, { headers: {} })).status).toBe(401);
    expect((await admin.call("GET", "/bridge", undefined, { headers: {} })).status).toBe(429);
    expect(admin.supervisor.view().routes.some(({ paused }) => paused)).toBe(false);
  });

  it("an origin of cors_origins may, where a proxy gives us another Host; CORS lets no cookie through to it", async () => {
    const ops = "https://ops.example";
    await using admin = await startAdmin({ corsOrigins: [ops] });
    const browser = await signedIn(admin);
    expect((await changes(admin, browser.headers({ Origin: ops }))).status).toBe(200);
    const preflight = await fetch(`${admin.url}/api/v1/admin/routes/alarms/pause`, {
      method: "OPTIONS",
      headers: {
        Origin: ops,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "x-bridge-console",
      },
    });
    expect(preflight.headers.get("Access-Control-Allow-Origin")).toBe(ops);
    expect(preflight.headers.get("Access-Control-Allow-Headers")?.toLowerCase()).not.toContain("x-bridge-console");
    expect(preflight.headers.has("Access-Control-Allow-Credentials")).toBe(false);
    const answer = await admin.call("GET", "/bridge", undefined, browser.headers({ Origin: ops }));
    expect(answer.headers.has("Access-Control-Allow-Credentials")).toBe(false);
  });
});

describe("operators 5.4: a session ends with its key", () => {
  it("that is exchanged, taken away, or opens less: at once, and the others go on", async () => {
    const ring = exchangeable();
    await using admin = await startAdmin({ keys: ring });
    const [viewer, operator] = [await signedIn(admin, keyOf("a-viewer")), await signedIn(admin, keyOf("a-operator"))];
    const without = (name: string, instead: object) =>
      createKeyring(namedAdminKeys({ ...KEYS, adminApiKeys: { ...KEYS.adminApiKeys, [name]: instead as never } }));
    ring.inForce = without("a-viewer", { key: keyOf("second"), role: "viewer" });
    expect((await admin.call("GET", "/bridge", undefined, viewer.headers())).status).toBe(401);
    expect((await admin.call("POST", "/routes/alarms/pause", undefined, operator.headers())).status).toBe(200);
    ring.inForce = without("a-operator", { key: keyOf("a-operator"), role: "viewer" });
    expect((await admin.call("POST", "/routes/alarms/resume", undefined, operator.headers())).status).toBe(403);
    expect((await admin.call("GET", "/session", undefined, operator.headers())).body).toMatchObject({ role: "viewer" });
  });

  it("its streams say goodbye: with the key, at the sign-out, and when the time of their cookie is over", async () => {
    const ring = exchangeable();
    const clock = new ManualClock();
    await using admin = await startAdmin({ keys: ring, clock, sessions: { idleMs: 5_000 } });
    const byes: string[] = [];
    const listen = async (browser: Browser): Promise<void> => {
      const { body } = await fetch(`${admin.url}/api/v1/admin/events?topics=jobs`, browser.headers());
      let text = "";
      if (body !== null) for await (const piece of body.pipeThrough(new TextDecoderStream())) text += piece;
      byes.push(/event: bye\ndata: (.*)\n/.exec(text)?.[1] ?? "no goodbye");
    };
    const [viewer, operator, admins] = [
      await signedIn(admin, keyOf("a-viewer")),
      await signedIn(admin, keyOf("a-operator")),
      await signedIn(admin),
    ];
    const open = [viewer, operator, admins].map(listen);
    // Once each time: who does not take a goodbye in time is cut.
    const ended = async (count: number, afterMs = 1_000): Promise<void> => {
      clock.advance(afterMs);
      await vi.waitFor(() => expect(byes).toHaveLength(count), PATIENCE);
    };
    await vi.waitFor(() => expect(admin.streams()).toBe(3), PATIENCE);
    const { "a-viewer": _, ...others } = KEYS.adminApiKeys as Record<string, never>;
    ring.inForce = createKeyring(namedAdminKeys({ ...KEYS, adminApiKeys: others }));
    await ended(1);
    await admin.call("DELETE", "/session", undefined, operator.headers());
    await ended(2);
    await ended(3, 5_000);
    await Promise.all(open);
    expect(byes).toEqual(['{"why":"key"}', '{"why":"expired"}', '{"why":"expired"}']);
  });

  it("keys rotated under load: no valid request is refused, and old sessions end", async () => {
    const ring = exchangeable();
    await using admin = await startAdmin({ keys: ring });
    const generations = 12;
    const key = (generation: number): string => keyOf(`bob-${generation}`);
    const ringOf = (...keys: readonly string[]) =>
      createKeyring(
        keys.map((one, at) => ({ name: `bob-${at % 2}`, key: one })).concat([{ name: "admin", key: ADMIN_KEY }]),
      );
    ring.inForce = ringOf(key(0), key(1));
    const steady = await signedIn(admin);
    const rotation = new AbortController();
    const refused: Answer[] = [];
    let answered = 0;
    const load = async (init: () => RequestInit): Promise<void> => {
      while (!rotation.signal.aborted) {
        const answer = await admin.call("GET", "/session", undefined, init());
        if (answer.status !== 200) refused.push(answer);
        answered++;
      }
    };
    const loads = [load(() => steady.headers()), load(() => shown(ADMIN_KEY)), load(() => steady.headers())];
    try {
      for (let generation = 0; generation < generations; generation++) {
        const old = await signedIn(admin, key(generation));
        const next = key(generation + 2);
        ring.inForce = generation % 2 === 0 ? ringOf(next, key(generation + 1)) : ringOf(key(generation + 1), next);
        expect((await admin.call("GET", "/session", undefined, old.headers())).status).toBe(401);
      }
      const before = answered;
      await vi.waitFor(() => expect(answered).toBeGreaterThan(before + 10), PATIENCE);
    } finally {
      rotation.abort();
      await Promise.all(loads);
    }
    expect(refused).toEqual([]);
  });

  it("is good at a second instance, and after a restart", async () => {
    await using first = await startAdmin({ keys: KEYS });
    const browser = await signedIn(first, keyOf("a-operator"));
    const bridge = makeBridge();
    for (let start = 0; start < 2; start++) {
      const second = await startAdmin({ keys: KEYS, bridge, started: start === 0 });
      const elsewhere = new Browser(second.url);
      elsewhere.cookie = browser.cookie;
      expect((await second.call("POST", "/routes/alarms/pause", undefined, elsewhere.headers())).status).toBe(200);
      if (start === 0) await second.closeServer();
      else await second[Symbol.asyncDispose]();
    }
  });
});

describe("operators 10: the server counts", () => {
  it("sessions, and whom it has turned away, by why", async () => {
    await using admin = await startAdmin({ keys: KEYS, throttle: { limit: 2 } });
    const viewer = await signedIn(admin, keyOf("a-viewer"));
    await signedIn(admin);
    await admin.call("POST", "/bridge/stop", undefined, viewer.headers());
    await admin.call("POST", "/bridge/stop", undefined, viewer.headers({ Origin: "http://evil.test" }));
    for (let n = 0; n < 3; n++) await admin.call("GET", "/bridge", undefined, shown("wrong-key-0123456789"));
    const { refusals, sessionsBegun } = admin.counts();
    expect(sessionsBegun).toBe(2);
    expect(refusals).toEqual([
      { why: "key", count: 2 },
      { why: "permission", count: 1 },
      { why: "csrf", count: 1 },
      { why: "throttled", count: 1 },
    ]);
  });
});

describe("operators 5.4: who guesses is kept out", () => {
  it("a guess counts as a failure of the client, a session that is over does not", async () => {
    const clock = new ManualClock();
    await using admin = await startAdmin({ clock });
    const browser = await signedIn(admin);
    clock.advance(3_600_000);
    for (let n = 0; n < 10; n++)
      expect(await admin.call("GET", "/session", undefined, browser.headers())).toMatchObject({
        status: 401,
        body: { error: "invalid or missing API key" },
      });
    const guess = new Browser(admin.url);
    guess.cookie = `${browser.cookie.slice(0, -1)}${browser.cookie.endsWith("A") ? "B" : "A"}`;
    const statuses: number[] = [];
    for (let n = 0; n < 7; n++) statuses.push((await admin.call("GET", "/session", undefined, guess.headers())).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
    // Whoever has the key is let in none the less.
    expect((await signedIn(admin)).cookie).not.toBe("");
  });

  it("an answer renews a cookie of more than 5 minutes, a refusal too, but not the one that takes it away", async () => {
    const clock = new ManualClock();
    await using admin = await startAdmin({ clock });
    const browser = await signedIn(admin);
    expect(browser.keep(await admin.call("GET", "/bridge", undefined, browser.headers()))).toBe(false);
    clock.advance(300_001);
    const first = browser.cookie;
    expect(browser.keep(await admin.call("GET", "/dlq/messages/none", undefined, browser.headers()))).toBe(true);
    expect(browser.cookie).not.toBe(first);
    clock.advance(300_001);
    const ended = await admin.call("DELETE", "/session", undefined, browser.headers());
    expect(ended.headers.getSetCookie()).toEqual([expect.stringContaining("Max-Age=0")]);
  });
});
