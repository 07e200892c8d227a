import { BridgeError, type DeadLetter } from "@bridge/ports";
import { describe, expect, it } from "vitest";
import { type Admin, ADMIN_KEY, type Answer, startAdmin } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";

const REFUSED = new BridgeError("FORBIDDEN", "the target forbids it");
const soon = (): AbortSignal => AbortSignal.timeout(10_000);
const base64 = (text: string): string => Buffer.from(text).toString("base64");

function redrive(admin: Admin, body: object, init?: RequestInit): Promise<Answer> {
  return admin.call("POST", "/dlq/messages/e1/redrive", { reason: "INC-7", ...body }, init);
}

async function startWith(entry: DeadLetter = deadLetter("e1"), options: Parameters<typeof startAdmin>[0] = {}) {
  const admin = await startAdmin(options);
  await keep(admin, entry);
  return admin;
}

function stored(admin: Admin): Promise<DeadLetter | undefined> {
  return admin.supervisor.dlq()?.get("e1", soon()) ?? Promise.resolve(undefined);
}

function sentTo(admin: Admin, channel = "out") {
  return admin.hub.channel(channel).messages()[0];
}

describe("operators 4: edit and redrive", () => {
  it("unedited, the entry is delivered as it is, and deleted", async () => {
    await using admin = await startWith();
    const { status, body } = await redrive(admin, {});
    expect([status, body]).toEqual([
      200,
      { status: "redriven", entry_id: "e1", envelope_id: expect.any(String) as string },
    ]);
    expect(sentTo(admin)).toMatchObject({ id: (body as { envelope_id: string }).envelope_id, subject: "boiler/7" });
    expect(await admin.ids()).toEqual([]);
  });

  it("names no message when the outbox knows that the entry was delivered before, and only deletes it", async () => {
    const inOutbox = deadLetter("e1", { routeId: "boxed", bindingId: "boxed" });
    await using admin = await startWith(inOutbox, { outbox: true });
    const first = await redrive(admin, {});
    expect(first.body).toMatchObject({ status: "redriven", envelope_id: sentTo(admin, "boxed-out")?.id });
    await keep(admin, inOutbox);
    const { status, body } = await redrive(admin, {});
    expect([status, body]).toEqual([
      200,
      { status: "redriven", entry_id: "e1", warning: expect.stringContaining("sent nothing") as string },
    ]);
    expect([admin.hub.channel("boxed-out").arrived, await admin.ids()]).toEqual([1, []]);
    expect(admin.events.at(-1)?.detail).not.toHaveProperty("envelope_id");
  });

  it("each part of it can be another one", async () => {
    await using admin = await startWith();
    const edit = {
      subject: "boiler/8",
      content_type: "application/json",
      payload: base64('{"t":1}'),
      headers: { Site: "south", extra: "1", "Ordering-Key": "kettle" },
      remove_headers: ["not-there"],
    };
    expect((await redrive(admin, edit)).status).toBe(200);
    const sent = sentTo(admin);
    expect(sent).toMatchObject({
      subject: "boiler/8",
      contentType: "application/json",
      orderingKey: "kettle",
      correlationId: "correlation-e1",
      headers: { site: "south", extra: "1", "x-bridge.causation-id": "envelope-e1" },
    });
    expect(Buffer.from(sent?.payload ?? []).toString()).toBe('{"t":1}');
  });

  it("headers, the ordering key and the content type can be taken away", async () => {
    await using admin = await startWith();
    await redrive(admin, { remove_headers: ["SITE", "ordering-key"], content_type: "" });
    const sent = sentTo(admin);
    expect(sent?.headers).not.toHaveProperty("site");
    expect(sent?.orderingKey).toBeUndefined();
    expect(sent?.contentType ?? "").toBe("");
  });

  it("goes to another binding of its route, and to none that the route has not", async () => {
    await using admin = await startWith(deadLetter("e1", { routeId: "fan", bindingId: "to-b" }));
    expect(await redrive(admin, { binding_id: "alarms" })).toMatchObject({
      status: 400,
      body: { error: "invalid request body: binding_id: route fan has no binding alarms" },
    });
    expect((await redrive(admin, { binding_id: "to-a" })).status).toBe(200);
    expect([admin.hub.channel("a").arrived, admin.hub.channel("b").arrived]).toEqual([1, 0]);
  });

  it("one that is not delivered is 422; the entry stays byte-identical, with a mark, and is there once", async () => {
    await using admin = await startWith();
    const before = await stored(admin);
    admin.hub.channel("out").sends.failNext(1, REFUSED);
    const { status, body } = await redrive(admin, { payload: base64("edited"), subject: "other" });
    expect([status, body]).toEqual([
      422,
      {
        error: "not delivered by alarms: the entry stays in the DLQ: the target forbids it",
        reason: "dead_lettered",
        envelope_id: expect.any(String) as string,
      },
    ]);
    const { marks, ...after } = (await stored(admin)) ?? deadLetter("e2");
    expect(after).toEqual(before);
    expect(marks?.redrives).toMatchObject({ count: 1, lastCode: "FORBIDDEN" });
    expect(await admin.ids()).toEqual(["e1"]);
    expect(admin.events.at(-1)).toMatchObject({ action: "dlq.edit", outcome: "not_delivered", resource_id: "e1" });
  });

  it("one that is not delivered, and that somebody has deleted meanwhile, is 409, and nothing is written", async () => {
    await using admin = await startWith();
    const out = admin.hub.channel("out");
    out.sends.failNext(1, REFUSED);
    const held = out.sends.hold();
    const redriven = redrive(admin, { subject: "other" });
    await out.until(({ sends }) => sends.held === 1, soon());
    expect(await admin.call("POST", "/dlq/delete", { ids: ["e1"] })).toMatchObject({ status: 200 });
    held[Symbol.dispose]();
    expect(await redriven).toMatchObject({
      status: 409,
      body: {
        error:
          "not delivered by alarms: the entry is gone: somebody has deleted or redriven it meanwhile, and nothing was written: the target forbids it",
        reason: "gone",
        envelope_id: expect.any(String) as string,
      },
    });
    expect(await admin.ids()).toEqual([]);
  });

  it("of two editors one gets 409", async () => {
    await using admin = await startWith();
    const out = admin.hub.channel("out");
    const held = out.sends.hold();
    const first = redrive(admin, { subject: "first" });
    await out.until(({ sends }) => sends.held === 1, soon());
    expect(await redrive(admin, { subject: "second" })).toMatchObject({
      status: 409,
      body: { error: "entry already redriven or concurrently deleted", reason: "busy" },
    });
    held[Symbol.dispose]();
    expect((await first).status).toBe(200);
    expect([out.arrived, sentTo(admin)?.subject]).toEqual([1, "first"]);
  });

  it.each<[string, (admin: Admin) => Promise<unknown>, object]>([
    [
      "quarantined",
      (admin) => admin.call("POST", "/dlq/annotate", { ids: ["e1"], quarantined: true }),
      { status: 409, body: { error: "entry is quarantined", reason: "quarantined" } },
    ],
    [
      "of a paused route",
      (admin) => admin.call("POST", "/routes/alarms/pause"),
      { status: 409, body: { error: "the route is paused: resume it first", reason: "paused" } },
    ],
    [
      "deleted",
      (admin) => admin.call("POST", "/dlq/delete", { ids: ["e1"] }),
      { status: 404, body: { error: "DLQ entry not found" } },
    ],
    [
      "of a route that is gone",
      (admin) =>
        admin
          .call("POST", "/dlq/delete", { ids: ["e1"] })
          .then(() => keep(admin, deadLetter("e1", { routeId: "gone" }))),
      { status: 404, body: { error: "route or binding not found" } },
    ],
    [
      "of a bridge that is stopped",
      (admin) => admin.call("POST", "/bridge/stop"),
      { status: 503, body: { error: "runtime not available" } },
    ],
  ])("an entry %s is not sent", async (_, before, answer) => {
    await using admin = await startWith();
    await before(admin);
    expect(await redrive(admin, { subject: "s" })).toMatchObject(answer);
    expect(admin.hub.channel("out").arrived).toBe(0);
  });

  it.each<[object, string]>([
    [{ headers: { "X-Bridge.Dedup-Id": "a" } }, "headers: the bridge's own headers cannot be given"],
    [{ headers: { "ｘ-bridge.job": "a" } }, "headers: the bridge's own headers cannot be given"],
    [
      { remove_headers: ["x-bridge.ordering-key"] },
      "remove_headers: names of the bridge's own headers cannot be given",
    ],
    [
      { headers: { a: "[REDACTED]" } },
      "headers: a value is [REDACTED]: give what is to be sent, or leave the header out",
    ],
    [{ payload: base64("[REDACTED]") }, "payload: is [REDACTED]: give what is to be sent"],
    [
      { payload: base64('{"password":"[REDACTED]","n":1}') },
      "payload: holds [REDACTED], which the entry does not: give what is to be sent",
    ],
    [{ subject: "\ud800" }, String.raw`subject: has half of a character, \ud800 at 1: give whole Unicode characters`],
    [
      { headers: { a: "\udfff" } },
      String.raw`headers.a: has half of a character, \udfff at 1: give whole Unicode characters`,
    ],
    [{ headers: { "ordering-key": "k".repeat(1_025) } }, "headers: ordering-key has more than 1024 characters"],
    [
      { headers: Object.fromEntries(Array.from({ length: 256 }, (__, n) => [`h${n}`, ""])) },
      "headers: the message would have more than 256",
    ],
    [{ headers: { a: "a".repeat(65_530) } }, "headers: the message would have more than 65536 characters of them"],
    [{ headers: { "Content-Type": "a/b" } }, "headers: content-type is no header of a message: give content_type"],
    [{ headers: { h1: "z", H1: "y" } }, "headers: one is given twice, in different case"],
    [{ headers: { h1: "z" }, remove_headers: ["H1"] }, "remove_headers: one is among headers, too"],
    [{ headers: { "ordering-key": "a" }, remove_headers: ["Ordering-Key"] }, "remove_headers: one is among headers"],
    [{ reason: "" }, "reason: must not be empty"],
    [{ reason: "r".repeat(501) }, "reason: has more than 500 characters"],
    [{ payload: "%" }, "payload: expected base64, padded, in the standard alphabet"],
    [{ expires_at: "never" }, "expires_at: unknown field"],
  ])("%# is 400, and nothing is sent", async (body, problem) => {
    await using admin = await startWith();
    const answer = await redrive(admin, body);
    expect(answer.status).toBe(400);
    expect((answer.body as { error: string }).error).toContain(problem);
    expect(admin.hub.channel("out").arrived).toBe(0);
    expect(await admin.ids()).toEqual(["e1"]);
  });

  it("operators 12.15: a payload that holds [REDACTED] of its own may be edited", async () => {
    const { envelope } = deadLetter("e1");
    const entry = deadLetter("e1", { envelope: { ...envelope, payload: Buffer.from("[REDACTED] 1") } });
    await using admin = await startWith(entry);
    expect((await redrive(admin, { payload: base64("[REDACTED] 2") })).status).toBe(200);
  });

  it("operators 5.2: dlq.redrive sends what is there, dlq.edit sends what is changed, neither does the other's", async () => {
    const keyOf = (name: string) => ({ headers: { "X-API-Key": `${name}-key-0123456789` } });
    const adminApiKeys = {
      olga: { key: "olga-key-0123456789", permissions: ["dlq.redrive"] },
      eve: { key: "eve-key-0123456789", permissions: ["dlq.edit"] },
    } as const;
    await using admin = await startWith(deadLetter("e1"), { keys: { adminApiKey: ADMIN_KEY, adminApiKeys } });
    for (const body of [{ subject: "s" }, { headers: {} }, { binding_id: "alarms" }])
      expect(await redrive(admin, body, keyOf("olga"))).toMatchObject({ status: 403, body: { needs: "dlq.edit" } });
    expect(await redrive(admin, {}, keyOf("eve"))).toMatchObject({ status: 403, body: { needs: "dlq.redrive" } });
    expect(admin.hub.channel("out").arrived).toBe(0);
    expect((await redrive(admin, {}, keyOf("olga"))).status).toBe(200);
    await keep(admin, deadLetter("e1"));
    expect((await redrive(admin, { subject: "s" }, keyOf("eve"))).status).toBe(200);
  });

  it("operators 0.1: who may neither redrive nor edit is refused before anything is said of the request", async () => {
    const keyOf = { headers: { "X-API-Key": "vera-key-0123456789" } };
    const adminApiKeys = { vera: { key: "vera-key-0123456789", role: "viewer" } } as const;
    await using admin = await startWith(deadLetter("e1"), { keys: { adminApiKey: ADMIN_KEY, adminApiKeys } });
    const forbidden = { status: 403, body: { reason: "permission", needs: "dlq.redrive" } };
    for (const body of [{}, { subject: 1 }, { nothing: "known" }, "no object"])
      expect(await redrive(admin, body as never, keyOf)).toMatchObject({ status: 403, body: { reason: "permission" } });
    expect(await admin.call("POST", "/dlq/jobs", { kind: "no kind" }, keyOf)).toMatchObject(forbidden);
    expect(await admin.call("POST", "/dlq/jobs/none/start", {}, keyOf)).toMatchObject(forbidden);
    expect((await admin.call("POST", "/dlq/jobs/none/start", { plan_hash: "x" })).status).toBe(404);
    await admin.call("POST", "/bridge/stop");
    expect(await redrive(admin, {}, keyOf)).toMatchObject(forbidden);
    expect((await redrive(admin, {})).status).toBe(503);
  });

  it("operators 0.6: the audit log says who, why, what changed and the digests, and shows nothing of the message", async () => {
    await using admin = await startWith();
    const edit = {
      subject: "canary-1",
      payload: base64("canary-2"),
      headers: { site: "canary-3", "ordering-key": "canary-4" },
    };
    await redrive(admin, edit);
    expect(admin.events).toMatchObject([
      {
        action: "dlq.edit.begin",
        outcome: "pending",
        detail: { reason: "INC-7", given: ["subject", "payload", "headers"] },
      },
      {
        action: "dlq.edit",
        outcome: "success",
        detail: {
          reason: "INC-7",
          route_id: "alarms",
          changed: ["subject", "payload", "headers", "ordering-key"],
          payload_before: { bytes: 3, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
          payload_after: { bytes: 8, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
        },
      },
    ]);
    expect(JSON.stringify(admin.events)).not.toContain("canary");
  });
});
