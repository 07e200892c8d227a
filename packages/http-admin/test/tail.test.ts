import type { Supervisor } from "@bridge/core";
import { Documented, type OpenApiDocument } from "@bridge/http-kit/documented";
import { BridgeError } from "@bridge/ports";
import { PATIENCE } from "@bridge/tooling/patience";
import { type ServerEvent, serverEvents } from "@bridge/tooling/server-events";
import { describe, expect, it, vi } from "vitest";
import { type Admin, ADMIN_KEY, instead, startAdmin } from "./admin.ts";
import { problemWith } from "./json-schema.ts";

const LOOKER = "looker-key-0123456789";
const KEYS = {
  adminApiKey: ADMIN_KEY,
  adminApiKeys: { looker: { key: LOOKER, role: "viewer" as const }, other: "other-key-0123456789" },
};
const anyText = expect.any(String) as string;
const anyNumber = expect.any(Number) as number;

type Tap = ReturnType<Supervisor["tap"]>;

interface Tail {
  readonly next: () => Promise<ServerEvent | undefined>;
  readonly end: () => void;
}

/** A tail that looks already when this resolves. */
async function tail(admin: Admin, query: string, { key = ADMIN_KEY, route = "alarms" } = {}): Promise<Tail> {
  const leaving = new AbortController();
  const answer = await fetch(`${admin.url}/api/v1/admin/routes/${route}/tail?${query}`, {
    headers: { "X-API-Key": key },
    signal: leaving.signal,
  });
  expect(answer.status).toBe(200);
  let opened = false;
  const events = serverEvents(answer, () => (opened = true));
  const coming = [events.next()];
  coming[0]?.catch(() => {});
  await vi.waitFor(() => expect(opened).toBe(true), PATIENCE);
  // The comment goes out with the first look; a turn later it has begun.
  await admin.call("GET", "/bridge");
  return {
    next: async () => (await (coming.pop() ?? events.next())).value as ServerEvent | undefined,
    end: () => leaving.abort(),
  };
}

async function inject(admin: Admin, subject: string, route = "alarms", payload = "aGk="): Promise<string> {
  const body = { subject, payload, headers: { kind: "new" } };
  const answer = await admin.call("POST", `/routes/${route}/inject`, body);
  return (answer.body as { readonly envelope_id: string }).envelope_id;
}

describe("operators 6.3: a tail", () => {
  it("operators 5.3: hides what is hidden of an entry, and a part of JSON whole", async () => {
    const operator = "operator-key-0123456789";
    const adminApiKeys = { ...KEYS.adminApiKeys, olga: { key: operator, role: "operator" as const } };
    const redact = { headers: ["kind"], fields: ["password"] };
    await using admin = await startAdmin({ keys: { ...KEYS, adminApiKeys }, redact });
    const payloads = ['{"password":"canary"}', JSON.stringify({ a: "x".repeat(2_000), password: "canary" })];
    const hidden = await tail(admin, "payload=preview", { key: operator });
    for (const text of payloads) await inject(admin, "boiler/7", "alarms", Buffer.from(text).toString("base64"));
    const [whole, part] = [await hidden.next(), await hidden.next()];
    expect(whole).toMatchObject({
      data: {
        headers: { kind: "[REDACTED]" },
        payload: Buffer.from('{"password":"[REDACTED]"}').toString("base64"),
        redacted: true,
      },
    });
    expect(part).toMatchObject({ data: { redacted: true, payload_bytes: payloads[1]?.length } });
    expect(part?.data).not.toHaveProperty("payload");
    hidden.end();
  });

  it("operators 5.3: shows each of those who look at one message what they may see of it", async () => {
    const operator = "operator-key-0123456789";
    const adminApiKeys = { ...KEYS.adminApiKeys, olga: { key: operator, role: "operator" as const } };
    await using admin = await startAdmin({ keys: { ...KEYS, adminApiKeys }, redact: { headers: ["kind"] } });
    const looks = [
      [LOOKER, "", { header_names: expect.arrayContaining(["kind"]) as string[] }],
      [operator, "payload=full", { headers: { kind: "[REDACTED]" }, payload: "aGk=", redacted: true }],
      [operator, "", { headers: { kind: "[REDACTED]" }, redacted: true }],
      [ADMIN_KEY, "payload=full", { headers: { kind: "new" }, payload: "aGk=" }],
      [ADMIN_KEY, "payload=full", { headers: { kind: "new" }, payload: "aGk=" }],
    ] as const;
    const tails = await Promise.all(looks.map(([key, query]) => tail(admin, query, { key })));
    const id = await inject(admin, "boiler/7");
    const seen = await Promise.all(tails.map(({ next }) => next()));
    for (const [index, [, query, shown]] of looks.entries()) {
      const data = seen[index]?.data;
      expect(data).toMatchObject({ envelope_id: id, ...shown });
      if (query === "") expect(data).not.toHaveProperty("payload");
      if (!("redacted" in shown)) expect(data).not.toHaveProperty("redacted");
    }
    for (const { end } of tails) end();
  });

  it("shows each message once, when it is settled, with what became of it", async () => {
    await using admin = await startAdmin();
    const { next } = await tail(admin, "payload=preview");
    const id = await inject(admin, "boiler/7");
    expect(await next()).toEqual({
      event: "message",
      data: {
        at: expect.stringMatching(/^2\d{3}-.*Z$/) as string,
        envelope_id: id,
        subject: "boiler/7",
        content_type: "",
        headers: expect.objectContaining({ kind: "new" }) as object,
        payload_bytes: 2,
        payload: "aGk=",
        outcome: "delivered",
        bindings: [{ id: "alarms", outcome: "delivered", attempts: 1, ms: anyNumber }],
        ms: anyNumber,
      },
    });
    const again = await inject(admin, "boiler/8");
    const event = await next();
    expect(event).toMatchObject({ data: { envelope_id: again } });
    const document = (await admin.call("GET", "/openapi.json")).body as OpenApiDocument;
    const documented = new Documented(document, problemWith);
    documented.holdEvent("GET /api/v1/admin/routes/{routeID}/tail", event as ServerEvent);
    expect(() =>
      documented.holdEvent("GET /api/v1/admin/routes/{routeID}/tail", { event: "message", data: {} }),
    ).toThrow("required");
  });

  it("shows what failed, what had no binding, each binding of a fan_out, and what an outbox has taken", async () => {
    await using admin = await startAdmin({ outbox: true });
    const shown = async (route: string): Promise<unknown> => {
      const { next, end } = await tail(admin, "", { route });
      await inject(admin, "s", route);
      const event = await next();
      end();
      return event?.data;
    };
    admin.hub.channel("nowhere").sends.failNext(1, new BridgeError("REJECTED", "no"));
    expect(await shown("dropping")).toMatchObject({
      outcome: "dropped",
      bindings: [{ id: "dropping", outcome: "dropped", attempts: 1 }],
    });
    expect(await shown("filtering")).toMatchObject({ outcome: "filtered", bindings: [] });
    expect(await shown("fan")).toMatchObject({
      outcome: "delivered",
      bindings: [
        { id: "to-a", outcome: "delivered", attempts: 1 },
        { id: "to-b", outcome: "delivered", attempts: 1 },
      ],
    });
    expect(await shown("boxed")).toMatchObject({
      outcome: "persisted",
      bindings: [{ id: "boxed", outcome: "persisted", attempts: 0 }],
    });
  });

  it("shows who may not read payloads the names of headers, and refuses them payloads", async () => {
    await using admin = await startAdmin({ keys: KEYS });
    const { next } = await tail(admin, "", { key: LOOKER });
    await inject(admin, "boiler/7");
    const { data } = (await next()) as { readonly data: object };
    expect(data).toMatchObject({ header_names: expect.arrayContaining(["kind"]) as string[], payload_bytes: 2 });
    expect(Object.keys(data)).not.toContain("headers");
    expect(JSON.stringify(data)).not.toMatch(/"new"|aGk=/);
    for (const payload of ["preview", "full"])
      expect(
        await admin.call("GET", `/routes/alarms/tail?payload=${payload}`, undefined, {
          headers: { "X-API-Key": LOOKER },
        }),
      ).toMatchObject({ status: 403, body: { needs: "payload.read" } });
    expect(admin.events.filter(({ action }) => action === "route.tail.begin")).toHaveLength(1);
  });

  it("shows of payloads no more than was asked for, and says how long they are", async () => {
    await using admin = await startAdmin();
    const long = Buffer.alloc(100_000, 7);
    for (const [payload, bytes] of [
      ["none", undefined],
      ["preview", 1_024],
      ["full", 65_536],
    ] as const) {
      const { next, end } = await tail(admin, `payload=${payload}`);
      await inject(admin, "s", "alarms", long.toString("base64"));
      const { data } = (await next()) as { readonly data: { payload?: string; payload_bytes: number } };
      expect(data.payload_bytes).toBe(100_000);
      expect(data.payload && Buffer.from(data.payload, "base64").length).toBe(bytes);
      end();
    }
  });

  it("shows one message in so many, of those that are asked for", async () => {
    await using admin = await startAdmin();
    const { next } = await tail(admin, "sample=3&subject_prefix=boiler/&outcome=delivered");
    for (const subject of ["pump/1", "boiler/1", "boiler/2", "boiler/3", "pump/2", "boiler/4", "boiler/5"])
      await inject(admin, subject);
    expect(await next()).toMatchObject({ data: { subject: "boiler/1" } });
    expect(await next()).toMatchObject({ data: { subject: "boiler/4" } });
  });

  it("counts what is above its rate, ends when its time is over, and is recorded as it began and as it ended", async () => {
    await using admin = await startAdmin();
    const { next } = await tail(admin, "rate=2&duration=2s&payload=preview");
    for (let n = 0; n < 10; n++) await inject(admin, `boiler/${n}`);
    const events: ServerEvent[] = [];
    for (let event = await next(); event !== undefined; event = await next()) events.push(event);
    const shown = events.filter(({ event }) => event === "message").length;
    const lost = events
      .filter(({ event }) => event === "lost")
      .reduce((sum, { data }) => sum + (data as { readonly count: number }).count, 0);
    expect(shown + lost).toBe(10);
    expect(shown).toBeGreaterThanOrEqual(2);
    expect(lost).toBeGreaterThan(0);
    expect(admin.counts().streams).toContainEqual({ kind: "tail", open: expect.any(Number) as number, lost });
    expect(events.at(-1)).toEqual({ event: "bye", data: { why: "over" } });
    const told = (): unknown[] => admin.events.filter(({ action }) => action.startsWith("route.tail"));
    await vi.waitFor(() => expect(told()).toHaveLength(2), PATIENCE);
    expect(told()).toMatchObject([
      {
        action: "route.tail.begin",
        outcome: "pending",
        resource_id: "alarms",
        detail: { query: { rate: 2, duration: 2_000, sample: 1, payload: "preview" } },
      },
      { action: "route.tail", outcome: "success", resource_id: "alarms", detail: { shown, lost, seconds: anyNumber } },
    ]);
  });

  it("tells what it looks at how much of the event loop showing it has used, so that it keeps to its share", async () => {
    const used = vi.fn<Tap["used"]>();
    const batches = [{ messages: [], lost: 3 }];
    const tap = { shown: 0, lost: 3, used, next: async () => batches.pop(), [Symbol.dispose]: () => {} };
    await using admin = await startAdmin({ seenAs: instead("tap", () => tap as unknown as Tap) });
    const { next } = await tail(admin, "");
    expect(await next()).toMatchObject({ event: "lost", data: { count: 3 } });
    expect(await next()).toMatchObject({ event: "bye" });
    expect(used.mock.calls).toEqual([[{ usedMs: anyNumber, tookMs: anyNumber }]]);
  });

  it("is one of eight", async () => {
    await using admin = await startAdmin({ keys: KEYS });
    const keys = [ADMIN_KEY, KEYS.adminApiKeys.other];
    const tails = await Promise.all(Array.from({ length: 8 }, (_, n) => tail(admin, "", { key: keys[n % 2] ?? "" })));
    expect(await admin.call("GET", "/routes/alarms/tail")).toMatchObject({
      status: 503,
      body: { error: "too many streams" },
    });
    tails[0]?.end();
    await vi.waitFor(async () => expect((await admin.call("GET", "/routes/alarms/tail")).status).toBe(200), PATIENCE);
  });

  it("goes on over a stop and a start, and ends with its route", async () => {
    await using admin = await startAdmin();
    const { next } = await tail(admin, "");
    await admin.call("POST", "/bridge/stop");
    await admin.call("POST", "/bridge/start");
    await inject(admin, "boiler/7");
    expect(await next()).toMatchObject({ data: { subject: "boiler/7" } });
    const config = admin.supervisor.config();
    const routes = config.routes.filter(({ id }) => id !== "alarms");
    await admin.supervisor.apply({ ...config, routes });
    expect(await next()).toEqual({ event: "bye", data: { why: "over" } });
    expect(await admin.call("GET", "/routes/alarms/tail")).toMatchObject({ status: 404, body: { error: anyText } });
  });

  it.each([
    "rate=501",
    "rate=0",
    "sample=0",
    "duration=16m",
    "duration=0s",
    "duration=5",
    "payload=all",
    "outcome=lost",
  ])("?%s is refused", async (query) => {
    await using admin = await startAdmin();
    expect(await admin.call("GET", `/routes/alarms/tail?${query}`)).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining(query.split("=")[0] ?? "") as string },
    });
  });
});
