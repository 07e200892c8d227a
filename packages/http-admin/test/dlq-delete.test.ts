import { describe, expect, it } from "vitest";
import { type Admin, startAdmin } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";

const NOON = Date.UTC(2026, 0, 1, 12);

/** Entries `e1` to `e4`, an hour apart; the even ones of route `fan`. */
async function startWithFour(): Promise<Admin> {
  const admin = await startAdmin();
  for (const n of [1, 2, 3, 4])
    await keep(
      admin,
      deadLetter(`e${n}`, {
        failedAt: NOON + n * 3_600_000,
        routeId: n % 2 === 0 ? "fan" : "alarms",
        category: n === 4 ? "expired" : "rejected",
      }),
    );
  return admin;
}

describe("spec 4.2: delete", () => {
  it("contract 2: deletes by id and says how many were there, also while the bridge is stopped", async () => {
    await using admin = await startWithFour();
    await admin.call("POST", "/bridge/stop");
    const ids = ["e1", "e3", "e1", "nothing"];
    expect(await admin.call("POST", "/dlq/delete", { ids })).toMatchObject({ status: 200, body: { deleted: 2 } });
    expect(await admin.ids()).toEqual(["e2", "e4"]);
    expect(admin.events.at(-1)).toMatchObject({
      action: "dlq.delete",
      outcome: "success",
      detail: { requested: 3, deleted: 2, ids: ["e1", "e3"] },
    });
    expect((await admin.call("POST", "/dlq/delete", { ids })).body).toEqual({ deleted: 0 });
  });

  it("spec 8: takes 1000 ids and not one more", async () => {
    await using admin = await startWithFour();
    const ids = Array.from({ length: 1_000 }, (_, n) => `e${n}`);
    expect((await admin.call("POST", "/dlq/delete", { ids })).body).toEqual({ deleted: 4 });
    expect(await admin.call("POST", "/dlq/delete", { ids: [...ids, "x"] })).toMatchObject({
      status: 400,
      body: { error: "invalid request body: ids: has more than 1000 ids (got 1001)" },
    });
  });

  it("an entry whose id somebody has emptied is named by that in the calls by ids", async () => {
    await using admin = await startWithFour();
    await keep(admin, deadLetter(""));
    const { body } = await admin.call("GET", "/dlq/messages");
    const ids = (body as { readonly messages: readonly { readonly id: string }[] }).messages.map(({ id }) => id);
    expect(ids).toContain("");
    const marks = { ids, quarantined: true };
    expect(await admin.call("POST", "/dlq/annotate", marks)).toMatchObject({ body: { annotated: 5 } });
    expect(await admin.call("POST", "/dlq/redrive", { ids: [""] })).toMatchObject({
      status: 207,
      body: { errors: [{ id: "", error: "entry is quarantined" }] },
    });
    expect(await admin.call("POST", "/dlq/delete", { ids })).toMatchObject({ status: 200, body: { deleted: 5 } });
    expect(await admin.ids()).toEqual([]);
  });

  it.each([{ ids: [] }, {}, { ids: "e1" }, { ids: [1] }, { ids: ["x".repeat(257)] }, { ids: ["e1"], force: true }])(
    "%j is 400 and deletes nothing",
    async (body) => {
      await using admin = await startWithFour();
      expect((await admin.call("POST", "/dlq/delete", body)).status).toBe(400);
      expect(await admin.ids()).toHaveLength(4);
    },
  );
});

describe("spec 4.8: delete by filter", () => {
  it.each([
    [{ route_id: "fan" }, 2, ["e1", "e3"]],
    [{ category: "expired" }, 1, ["e1", "e2", "e3"]],
    [{ since: "2026-01-01T15:00:00Z" }, 2, ["e1", "e2"]],
    [{ before: "2026-01-01T15:00:00Z" }, 2, ["e3", "e4"]],
    [{ route_id: "fan", before: "2026-01-01T15:00:00Z" }, 1, ["e1", "e3", "e4"]],
    [{ route_id: "nothing" }, 0, ["e1", "e2", "e3", "e4"]],
    [{ category: "rejected", limit: 2 }, 2, ["e3", "e4"]],
    [{ confirm_delete_all: true, limit: 3 }, 3, ["e4"]],
    [{ confirm_delete_all: true }, 4, []],
    [{ route_id: "fan", confirm_delete_all: false }, 2, ["e1", "e3"]],
  ])("%j deletes %i", async (body, count, left) => {
    await using admin = await startWithFour();
    expect(await admin.call("POST", "/dlq/delete-by-filter", body)).toMatchObject({
      status: 200,
      body: { deleted: count },
    });
    expect(await admin.ids()).toEqual(left);
    expect(admin.done()).toMatchObject([{ action: "dlq.delete_by_filter", detail: { deleted: count } }]);
  });

  it("spec 4.8: limit 0 means no limit", async () => {
    await using admin = await startWithFour();
    expect((await admin.call("POST", "/dlq/delete-by-filter", { category: "rejected", limit: 0 })).body).toEqual({
      deleted: 3,
    });
  });

  it.each([{}, { limit: 2 }, { limit: 0 }, { confirm_delete_all: false }, { confirm_delete_all: false, limit: 1 }])(
    "spec 4.8: the empty filter %j requires confirm_delete_all: 400",
    async (body) => {
      await using admin = await startWithFour();
      const answer = await admin.call("POST", "/dlq/delete-by-filter", body);
      expect(answer.status).toBe(400);
      expect(answer.body).toEqual({ error: expect.stringContaining("confirm_delete_all") as string });
      expect(await admin.ids()).toHaveLength(4);
      expect(admin.events.map(({ action, outcome }) => [action, outcome])).toEqual([
        ["dlq.delete_by_filter", "failure"],
      ]);
    },
  );

  it.each([
    { category: "nothing" },
    { category: "" },
    { route_id: "fan", limit: -1 },
    { route_id: "fan", limit: 1.5 },
    { route_id: "fan", limit: "1" },
    { route_id: "" },
    { route_id: null },
    { since: "yesterday" },
    { before: 1_767_225_600 },
    { confirm_delete_all: "true" },
    { confirm_delete_all: true, older_than: "1h" },
    [],
  ])("spec 7.1: %j is 400 and deletes nothing", async (body) => {
    await using admin = await startWithFour();
    expect((await admin.call("POST", "/dlq/delete-by-filter", body)).status).toBe(400);
    expect(await admin.ids()).toHaveLength(4);
  });

  it("records the filter in the words of the request", async () => {
    await using admin = await startWithFour();
    await admin.call("POST", "/dlq/delete-by-filter", {
      route_id: "fan",
      since: "2026-01-01T16:00:00+01:00",
      limit: 5,
    });
    expect(admin.done()[0]?.detail).toEqual({
      route_id: "fan",
      since: "2026-01-01T15:00:00.000Z",
      limit: 5,
      deleted: 1,
      client_addr: "127.0.0.1",
    });
  });
});

describe("spec 2.12, 4.7: purge", () => {
  it("deletes everything once it is confirmed, also while the bridge is stopped", async () => {
    await using admin = await startWithFour();
    await admin.call("POST", "/bridge/stop");
    expect(await admin.call("POST", "/dlq/purge", { confirm_purge_all: true })).toMatchObject({
      status: 200,
      body: { purged: 4 },
    });
    expect(await admin.ids()).toEqual([]);
    expect(admin.events.at(-1)).toMatchObject({ action: "dlq.purge", outcome: "success", detail: { purged: 4 } });
  });

  it.each([{}, { confirm_purge_all: false }, { confirm_purge_all: "true" }, { confirm_purge_all: 1 }, ""])(
    "%j is 400 and deletes nothing",
    async (body) => {
      await using admin = await startWithFour();
      expect((await admin.call("POST", "/dlq/purge", body)).status).toBe(400);
      expect(await admin.ids()).toHaveLength(4);
      expect(admin.done()).toMatchObject([{ action: "dlq.purge", outcome: "failure" }]);
    },
  );
});
