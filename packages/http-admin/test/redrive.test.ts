import type { RedriveResult } from "@bridge/core";
import { BridgeError, type DeadLetter } from "@bridge/ports";
import { describe, expect, it } from "vitest";
import { type Admin, ADMIN_KEY, type Answer, instead, startAdmin } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";

const soon = (): AbortSignal => AbortSignal.timeout(10_000);
const REFUSED = new BridgeError("FORBIDDEN", "the target forbids it");

function redrive(admin: Admin, ...ids: readonly string[]): Promise<Answer> {
  return admin.call("POST", "/dlq/redrive", { ids });
}

/** An entry that no other is ordered against. */
function unordered(id: string, changes: Partial<DeadLetter> = {}): DeadLetter {
  const entry = deadLetter(id, changes);
  return { ...entry, envelope: { ...entry.envelope, headers: {} } };
}

describe("spec 4.6: redrive", () => {
  it("spec 2.11: delivers entries again and deletes them", async () => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1"), deadLetter("e2"), deadLetter("e3"));
    expect(await redrive(admin, "e1", "e3")).toMatchObject({ status: 200, body: { redriven: 2, failed: 0 } });
    expect(
      admin.hub
        .channel("out")
        .messages()
        .map(({ headers }) => headers?.["x-bridge.causation-id"]),
    ).toEqual(["envelope-e1", "envelope-e3"]);
    expect(await admin.ids()).toEqual(["e2"]);
  });

  it("spec 4.6.1: takes 100 ids and not one more", async () => {
    await using admin = await startAdmin();
    const ids = Array.from({ length: 100 }, (_, n) => `e${n}`);
    for (const id of ids) await keep(admin, unordered(id));
    expect(await redrive(admin, ...ids, "e100")).toMatchObject({
      status: 400,
      body: { error: "invalid request body: ids: has more than 100 ids (got 101)" },
    });
    expect(await redrive(admin, ...ids)).toMatchObject({ status: 200, body: { redriven: 100, failed: 0 } });
  });

  it("spec 4.6.1: an id that is given twice counts once", async () => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1"));
    expect(await redrive(admin, "e1", "e1", "e1")).toMatchObject({ status: 200, body: { redriven: 1, failed: 0 } });
    expect(admin.hub.channel("out").arrived).toBe(1);
  });

  it.each([{ ids: [] }, {}, { ids: ["e1"], force: true }, { ids: "e1" }, { ids: [null] }, [], "{"])(
    "spec 4.6.1: the body is decoded strictly: %j is 400",
    async (body) => {
      await using admin = await startAdmin();
      await keep(admin, deadLetter("e1"));
      expect((await admin.call("POST", "/dlq/redrive", body)).status).toBe(400);
      expect(admin.events).toMatchObject([{ action: "dlq.redrive", outcome: "failure", detail: { status: 400 } }]);
      expect(admin.hub.channel("out").arrived).toBe(0);
    },
  );

  it("spec 4.6.2: dlq.redrive.begin is written, pending and with the ids, before anything is injected", async () => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1"));
    const out = admin.hub.channel("out");
    const held = out.sends.hold();
    const answer = redrive(admin, "e1", "nothing", "e1");
    await out.until(({ sends }) => sends.held === 1, soon());
    expect(admin.events).toMatchObject([
      { action: "dlq.redrive.begin", actor: "admin", outcome: "pending", detail: { ids: ["e1", "nothing"] } },
    ]);
    held[Symbol.dispose]();
    await answer;
    expect(admin.events.at(-1)).toMatchObject({
      action: "dlq.redrive",
      outcome: "partial_failure",
      detail: { requested: 2, redriven: 1, failed: 1 },
    });
  });

  it("finding 5.5: dlq.redrive says which entries went out and which did not", async () => {
    await using admin = await startAdmin();
    for (const id of ["e1", "e2", "e3"]) await keep(admin, deadLetter(id));
    admin.hub.channel("out").sends.failNext(1, REFUSED);
    const { body } = await redrive(admin, "e1", "nothing", "e2", "e3");
    const failed = (body as { errors: { id: string }[] }).errors.map(({ id }) => id);
    expect(failed).toHaveLength(2);
    expect(admin.events.at(-1)?.detail).toMatchObject({
      redriven_ids: ["e1", "e2", "e3"].filter((id) => !failed.includes(id)),
      failed_ids: failed,
    });
  });

  it("spec 4.6.3: an entry is deleted only after its delivery is confirmed", async () => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1"));
    const out = admin.hub.channel("out");
    const held = out.sends.hold();
    const answer = redrive(admin, "e1");
    await out.until(({ sends }) => sends.held === 1, soon());
    expect(await admin.ids()).toEqual(["e1"]);
    held[Symbol.dispose]();
    expect((await answer).status).toBe(200);
    expect(await admin.ids()).toEqual([]);
  });

  it("spec 4.6.4: of a fan-out route only the binding that failed gets the message again", async () => {
    await using admin = await startAdmin();
    admin.hub.channel("b").sends.failNext(1, REFUSED);
    admin.hub.publish("fan", { id: "m-1", payload: "x" });
    await expect.poll(() => admin.ids()).toHaveLength(1);
    expect((await redrive(admin, ...(await admin.ids()))).status).toBe(200);
    expect([admin.hub.channel("a").arrived, admin.hub.channel("b").arrived]).toEqual([1, 1]);
  });

  it("spec 4.6.5: re-issues under a fresh id; keeps ordering key and correlation id, drops what would suppress it", async () => {
    await using admin = await startAdmin();
    const { envelope } = deadLetter("e1");
    const headers = { ...envelope.headers, "x-bridge.generated-id": "true" };
    await keep(admin, deadLetter("e1", { envelope: { ...envelope, headers } }));
    await redrive(admin, "e1");
    const [message] = admin.hub.channel("out").messages();
    expect(message?.id).not.toBe("envelope-e1");
    expect(message).toMatchObject({
      subject: "boiler/7",
      payload: envelope.payload,
      contentType: "text/plain",
      correlationId: "correlation-e1",
      orderingKey: "boiler",
      headers: { site: "north", "x-bridge.causation-id": "envelope-e1" },
    });
    expect(message?.dedupId).toBeUndefined();
  });

  it("spec 4.6.6: a replay that fails is reported, the entry kept, and a new one written that names the original", async () => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1"));
    admin.hub.channel("out").sends.failNext(1, REFUSED);
    expect(await redrive(admin, "e1")).toMatchObject({
      status: 207,
      body: {
        redriven: 0,
        failed: 1,
        errors: [{ id: "e1", error: expect.stringContaining("dead_lettered") as string }],
      },
    });
    const ids = await admin.ids();
    expect(ids).toHaveLength(2);
    const fresh = ids.find((id) => id !== "e1") ?? "";
    expect((await admin.call("GET", `/dlq/messages/${fresh}`)).body).toMatchObject({
      error_code: "FORBIDDEN",
      envelope: { headers: { "x-bridge.causation-id": "envelope-e1" } },
    });
  });

  it.each([
    ["dropping", "dropped"],
    ["filtering", "filtered"],
    ["expiring", "expired"],
  ])("spec 4.6.6: a replay that route %s settles as %s is reported and kept", async (routeId, outcome) => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1", { routeId, bindingId: routeId }));
    admin.hub.channel("nowhere").sends.failNext(1, REFUSED);
    const { status, body } = await redrive(admin, "e1");
    expect(status).toBe(207);
    expect(body).toMatchObject({
      failed: 1,
      errors: [{ id: "e1", error: expect.stringContaining(outcome) as string }],
    });
    expect(await admin.ids()).toEqual(["e1"]);
  });

  it("spec 4.6.7: refusals and the warning of a runtime without redrive-safe injection are passed on", async () => {
    const error = "refused: runtime lacks redrive-safe injection (the entry has an envelope id)";
    const result: RedriveResult = { redriven: 1, failed: 1, errors: [{ id: "e1", error }], warning: "verify delivery" };
    await using admin = await startAdmin({ seenAs: instead("redrive", async () => result) });
    expect(await redrive(admin, "e1", "e2")).toMatchObject({ status: 207, body: result });
    const { errors: _, ...whole } = { ...result, failed: 0 };
    await using warned = await startAdmin({ seenAs: instead("redrive", async () => ({ ...whole, errors: [] })) });
    const answer = await redrive(warned, "e2");
    expect([answer.status, answer.body]).toEqual([200, { redriven: 1, failed: 0, warning: "verify delivery" }]);
  });

  it.each([
    { routeId: "alarms", bindingId: "gone" },
    { routeId: "gone", bindingId: "alarms" },
    { routeId: "gone", bindingId: "" },
  ])("spec 4.6.8: an entry of %j fails as not found and is kept", async (changes) => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1", changes));
    expect(await redrive(admin, "e1")).toMatchObject({
      status: 207,
      body: { redriven: 0, failed: 1, errors: [{ id: "e1", error: "route or binding not found" }] },
    });
    expect(await admin.ids()).toEqual(["e1"]);
  });

  it("spec 4.6.9: 200 only when every entry was redriven, 207 with errors otherwise", async () => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1"), deadLetter("e2", { bindingId: "gone" }), deadLetter("e3"));
    const { status, body } = await redrive(admin, "e1", "e2", "e3");
    expect([status, body]).toEqual([
      207,
      { redriven: 2, failed: 1, errors: [{ id: "e2", error: "route or binding not found" }] },
    ]);
    expect(admin.supervisor.stats()).toMatchObject({ redrives: 2, redriveFailures: 1 });
  });

  it("spec 4.6.10: one id is in one redrive at a time: the other caller is told that it is gone", async () => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1"));
    const out = admin.hub.channel("out");
    const held = out.sends.hold();
    const first = redrive(admin, "e1");
    await out.until(({ sends }) => sends.held === 1, soon());
    expect(await redrive(admin, "e1")).toMatchObject({
      status: 207,
      body: { errors: [{ id: "e1", error: "entry already redriven or concurrently deleted" }] },
    });
    held[Symbol.dispose]();
    expect((await first).status).toBe(200);
    expect(out.arrived).toBe(1);
  });

  it("spec 4.6.10: an entry that is deleted while it is redriven", async () => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1"));
    const out = admin.hub.channel("out");
    const held = out.sends.hold();
    const answer = redrive(admin, "e1");
    await out.until(({ sends }) => sends.held === 1, soon());
    await admin.call("POST", "/dlq/delete", { ids: ["e1"] });
    held[Symbol.dispose]();
    expect(await answer).toMatchObject({
      status: 207,
      body: { errors: [{ id: "e1", error: "entry already redriven or concurrently deleted" }] },
    });
  });
});

describe("contract 2: redrive", () => {
  it("an unknown id is a per-entry error; when all failed the outcome is failure", async () => {
    await using admin = await startAdmin();
    expect(await redrive(admin, "nothing")).toMatchObject({
      status: 207,
      body: { redriven: 0, failed: 1, errors: [{ id: "nothing", error: "entry not found" }] },
    });
    expect(admin.events.map(({ action, outcome }) => [action, outcome])).toEqual([
      ["dlq.redrive.begin", "pending"],
      ["dlq.redrive", "failure"],
    ]);
  });

  it("without a running runtime it is 503, before the store and the body are looked at", async () => {
    await using admin = await startAdmin({ store: "none" });
    await admin.call("POST", "/bridge/stop");
    expect(await admin.call("POST", "/dlq/redrive", "not JSON")).toMatchObject({
      status: 503,
      body: { error: "runtime not available" },
    });
  });

  it("delivered but not deleted counts as failed", async () => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1"));
    admin.faults.store = (method) => {
      if (method === "delete") throw new BridgeError("UNAVAILABLE", "the disk is full");
    };
    expect(await redrive(admin, "e1")).toMatchObject({
      status: 207,
      body: { errors: [{ id: "e1", error: "delivered, entry not deleted" }] },
    });
    expect(admin.hub.channel("out").arrived).toBe(1);
  });

  it("an entry with an empty binding_id replays the whole route", async () => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1", { routeId: "fan", bindingId: "" }));
    expect((await redrive(admin, "e1")).status).toBe(200);
    expect([admin.hub.channel("a").arrived, admin.hub.channel("b").arrived]).toEqual([1, 1]);
  });

  it("at its bound the work is cancelled: outcome unknown, not attempted, and everything is kept", async () => {
    await using admin = await startAdmin({ redriveTimeoutMs: 2_000 });
    const ids = Array.from({ length: 20 }, (_, n) => `e${n}`);
    for (const id of ids) await keep(admin, unordered(id));
    admin.hub.channel("out").sends.hold();
    const { status, body } = await redrive(admin, ...ids);
    expect(status).toBe(207);
    const { errors } = body as { errors: { error: string }[] };
    expect(errors.map(({ error }) => error)).toEqual([
      ...Array.from({ length: 16 }, () => "outcome unknown"),
      ...Array.from({ length: 4 }, () => "not attempted"),
    ]);
    expect(await admin.ids()).toHaveLength(20);
  });

  it("goes on when the client disconnects", async () => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1"), deadLetter("e2"));
    const out = admin.hub.channel("out");
    const held = out.sends.hold();
    const client = new AbortController();
    const init = { signal: client.signal, headers: { "X-API-Key": ADMIN_KEY } };
    const answer = admin.call("POST", "/dlq/redrive", { ids: ["e1", "e2"] }, init);
    await out.until(({ sends }) => sends.held === 1, soon());
    client.abort();
    await expect(answer).rejects.toThrow("aborted");
    held[Symbol.dispose]();
    await expect.poll(() => admin.ids()).toEqual([]);
    await expect.poll(() => admin.events.at(-1)).toMatchObject({ action: "dlq.redrive", outcome: "success" });
  });
});
