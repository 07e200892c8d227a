import { BridgeError, RESERVED } from "@bridge/ports";
import { describe, expect, it } from "vitest";
import { type Admin, ADMIN_KEY, type Answer, instead, startAdmin } from "./admin.ts";

const soon = (): AbortSignal => AbortSignal.timeout(10_000);
const REFUSED = new BridgeError("FORBIDDEN", "the target forbids it");

function inject(admin: Admin, route: string, body: unknown, init?: RequestInit): Promise<Answer> {
  return admin.call("POST", `/routes/${route}/inject`, body, init);
}

describe("spec 2.10, 4.4: inject", () => {
  it("spec 4.4.1: carries the decoded payload and the headers, without reserved ones in any letter case", async () => {
    await using admin = await startAdmin();
    const headers = { Site: "north", "x-bridge.causation-id": "a", "X-Bridge.Ordering-Key": "b", "X-BRIDGE.new": "c" };
    const payload = Buffer.from([0, 255, 128]).toString("base64");
    const { status, body } = await inject(admin, "alarms", { subject: "boiler/7", payload, headers, id: "m-1" });
    expect([status, body]).toEqual([200, { status: "injected", envelope_id: "m-1" }]);
    const [message] = admin.hub.channel("out").messages();
    expect(message).toMatchObject({ id: "m-1", subject: "boiler/7", headers: { site: "north" } });
    expect([...(message?.payload ?? [])]).toEqual([0, 255, 128]);
    expect(message?.orderingKey).toBeUndefined();
    expect(Object.keys(message?.headers ?? {})).toEqual(["site"]);
  });

  it("spec 4.4.2: without an id one is generated, an empty one is 400", async () => {
    await using admin = await startAdmin();
    const { body } = await inject(admin, "alarms", { subject: "s" });
    const { envelope_id } = body as { envelope_id: string };
    expect(envelope_id).not.toBe("");
    expect(admin.hub.channel("out").messages()[0]?.id).toBe(envelope_id);
    expect(await inject(admin, "alarms", { subject: "s", id: "" })).toMatchObject({
      status: 400,
      body: { error: "invalid request body: id: must not be empty" },
    });
  });

  it("spec 4.4.3: 200 comes only after the destination has accepted", async () => {
    await using admin = await startAdmin();
    const out = admin.hub.channel("out");
    const held = out.sends.hold();
    let answered = false;
    const answer = inject(admin, "alarms", { subject: "s" }).finally(() => (answered = true));
    await out.until(({ sends }) => sends.held === 1, soon());
    expect(answered).toBe(false);
    held[Symbol.dispose]();
    expect((await answer).status).toBe(200);
  });

  it.each([
    [
      "dropping",
      "dropped",
      /^not delivered by dropping: dropped by the route's failure policy: the target forbids it$/,
    ],
    ["filtering", "filtered", /^not delivered: filtered out by a processor: /],
    ["expiring", "expired", /^not delivered by expiring: already expired: /],
    ["alarms", "dead_lettered", /^not delivered by alarms: written to the DLQ: the target forbids it$/],
  ])("spec 4.4.4: route %s settles it as %s: 422 with the reason", async (route, reason, error) => {
    await using admin = await startAdmin();
    for (const channel of ["out", "nowhere"]) admin.hub.channel(channel).sends.failNext(1, REFUSED);
    const { status, body } = await inject(admin, route, { subject: "s", id: "m-1" });
    expect(status).toBe(422);
    expect(body).toEqual({ error: expect.stringMatching(error) as string, reason, envelope_id: "m-1" });
    expect(admin.done()).toMatchObject([
      {
        action: "route.inject",
        resource_type: "route",
        resource_id: route,
        outcome: "not_delivered",
        detail: { envelope_id: "m-1", reason },
      },
    ]);
    expect(await admin.ids()).toHaveLength(reason === "dead_lettered" ? 1 : 0);
  });

  it("spec 4.4.5: a duplicate is 200 with a warning", async () => {
    const result = { envelopeId: "m-1", outcome: "duplicate", failedBindings: [], warning: "swallowed" } as const;
    await using admin = await startAdmin({ seenAs: instead("inject", async () => result) });
    expect(await inject(admin, "alarms", { subject: "s" })).toMatchObject({
      status: 200,
      body: { status: "injected", envelope_id: "m-1", warning: "swallowed" },
    });
  });

  it("finding 5.4: so is one that was given up before: 422 with the warning", async () => {
    const result = { envelopeId: "m-1", outcome: "dropped", failedBindings: [], warning: "swallowed" } as const;
    await using admin = await startAdmin({ seenAs: instead("inject", async () => result) });
    expect(await inject(admin, "alarms", { subject: "s" })).toMatchObject({
      status: 422,
      body: { reason: "dropped", envelope_id: "m-1", warning: "swallowed" },
    });
  });

  it("contract 2: on fan_out it is delivered only when every leg was; else the error names the bindings", async () => {
    await using admin = await startAdmin();
    expect((await inject(admin, "fan", { subject: "s" })).status).toBe(200);
    admin.hub.channel("b").sends.failNext(1, REFUSED);
    const { status, body } = await inject(admin, "fan", { subject: "s" });
    expect(status).toBe(422);
    expect(body).toMatchObject({
      error: "not delivered by to-b: written to the DLQ: the target forbids it",
      reason: "dead_lettered",
    });
    expect(admin.hub.channel("a").arrived).toBe(2);
  });

  it("contract 2: an unknown route is 404", async () => {
    await using admin = await startAdmin();
    expect(await inject(admin, "nothing", { subject: "s" })).toMatchObject({
      status: 404,
      body: { error: "route not found" },
    });
  });

  it("contract 2: without a running runtime it is 503, before the route is looked at", async () => {
    await using admin = await startAdmin();
    await admin.call("POST", "/bridge/stop");
    for (const route of ["alarms", "nothing"])
      expect(await inject(admin, route, "not JSON")).toMatchObject({
        status: 503,
        body: { error: "runtime not available" },
      });
  });

  it("spec 7.1: 500 when the inject itself failed: the bridge stopped under it", async () => {
    await using admin = await startAdmin();
    const out = admin.hub.channel("out");
    out.sends.hold();
    const answer = inject(admin, "alarms", { subject: "s" });
    await out.until(({ sends }) => sends.held === 1, soon());
    await admin.call("POST", "/bridge/stop");
    expect(await answer).toMatchObject({
      status: 500,
      body: { error: expect.stringContaining("not known") as string },
    });
    expect(admin.events.find((event) => event.action === "route.inject")).toMatchObject({ outcome: "failure" });
  });
});

describe("contract 2: inject, what is 400", () => {
  it.each([
    ["bad body", "{", "invalid request body"],
    ["an array", "[]", "invalid request body: expected a JSON object"],
    ["bad base64", { subject: "s", payload: "a" }, "payload: expected base64"],
    ["base64 without padding", { subject: "s", payload: "YQ" }, "payload: expected base64"],
    ["base64 for URLs", { subject: "s", payload: "_-8=" }, "payload: expected base64"],
    ["base64 with line breaks", { subject: "s", payload: "YWJj\nYWJj" }, "payload: expected base64"],
    ["a payload that is no string", { subject: "s", payload: 7 }, "payload: expected base64"],
    ["missing subject", { payload: "" }, "subject: is missing"],
    ["empty subject", { subject: "" }, "subject: must not be empty"],
    ["unknown field", { subject: "s", topic: "t" }, "topic: unknown field"],
    ["a header that is no string", { subject: "s", headers: { a: 1 } }, "headers: expected an object whose values"],
    ["headers as a list", { subject: "s", headers: ["a"] }, "headers: expected an object whose values"],
  ])("%s", async (_, body, error) => {
    await using admin = await startAdmin();
    const answer = await inject(admin, "alarms", body);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ error: expect.stringContaining(error) as string });
    expect(admin.hub.channel("out").arrived).toBe(0);
    expect(admin.done()).toMatchObject([{ action: "route.inject", outcome: "failure", detail: { status: 400 } }]);
  });

  it("a body over 1 MB is 413", async () => {
    await using admin = await startAdmin();
    const payload = Buffer.alloc(900_000).toString("base64");
    expect((await inject(admin, "alarms", { subject: "s", payload })).status).toBe(413);
  });
});

describe("contract 2: bounds of inject", () => {
  it("at the operation timeout its work is cancelled: 500, and the message is nowhere", async () => {
    await using admin = await startAdmin({ operationTimeoutMs: 500 });
    const out = admin.hub.channel("out");
    const held = out.sends.hold();
    const { status, body } = await inject(admin, "alarms", { subject: "s" });
    expect([status, body]).toEqual([
      500,
      { error: "the inject was cancelled: the message was not settled after 0.5 s" },
    ]);
    held[Symbol.dispose]();
    expect((await inject(admin, "alarms", { subject: "s", id: "second" })).status).toBe(200);
    expect(out.messages().map((message) => message.id)).toEqual(["second"]);
    expect(await admin.ids()).toEqual([]);
  });

  it("goes on when the client disconnects", async () => {
    await using admin = await startAdmin();
    const out = admin.hub.channel("out");
    const held = out.sends.hold();
    const client = new AbortController();
    const answer = inject(
      admin,
      "alarms",
      { subject: "s", id: "m-1" },
      {
        signal: client.signal,
        headers: { "X-API-Key": ADMIN_KEY },
      },
    );
    await out.until(({ sends }) => sends.held === 1, soon());
    client.abort();
    await expect(answer).rejects.toThrow("aborted");
    held[Symbol.dispose]();
    await out.waitForMessages(1, soon());
    await expect.poll(() => admin.done()).toMatchObject([{ action: "route.inject", outcome: "success" }]);
  });

  it("takes a slot of the route", async () => {
    await using admin = await startAdmin();
    const out = admin.hub.channel("out");
    const held = out.sends.hold();
    const answers = Array.from({ length: 120 }, () => inject(admin, "alarms", { subject: "s" }));
    await out.until(({ sends }) => sends.held === 100, soon());
    expect(admin.supervisor.stats().routes.find(({ routeId }) => routeId === "alarms")?.inFlight).toBe(100);
    held[Symbol.dispose]();
    expect((await Promise.all(answers)).every(({ status }) => status === 200)).toBe(true);
  });
});

describe("spec 4.4.1: no caller can steer the engine", () => {
  it("the id that a caller gives is not marked as generated", async () => {
    await using admin = await startAdmin();
    admin.hub.channel("out").sends.failNext(2, REFUSED);
    await inject(admin, "alarms", { subject: "s", id: "mine" });
    await inject(admin, "alarms", { subject: "s", headers: { [RESERVED.generatedId]: "false" } });
    const marks = new Map<string, string | undefined>();
    for (const id of await admin.ids()) {
      const envelope = (await admin.supervisor.dlq()?.get(id, soon()))?.envelope;
      marks.set(envelope?.id === "mine" ? "mine" : "generated", envelope?.headers[RESERVED.generatedId]);
    }
    expect(Object.fromEntries(marks)).toEqual({ mine: undefined, generated: "true" });
  });
});
