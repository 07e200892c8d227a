import { describe, expect, it } from "vitest";
import { type Admin, startAdmin } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";

const NOON = Date.UTC(2026, 0, 1, 12);
const HOUR = 3_600_000;

interface Groups {
  readonly total: number;
  readonly groups: readonly { readonly key: object; readonly count: number }[];
  readonly more_groups: boolean;
  readonly histogram?: { readonly counts: readonly number[] };
}

async function groups(admin: Admin, query: string): Promise<Groups> {
  const { status, body } = await admin.call("GET", `/dlq/summary?${query}`);
  expect([status, body]).toMatchObject([200, {}]);
  return body as Groups;
}

/** Three of route `alarms`, of which one is another failure, and one of `fan`. */
async function keepFour(admin: Admin): Promise<void> {
  await keep(
    admin,
    deadLetter("a", { failedAt: NOON }),
    deadLetter("b", { failedAt: NOON + HOUR }),
    deadLetter("c", { failedAt: NOON + 2 * HOUR, errorCode: "TIMEOUT", category: "transient" }),
    deadLetter("d", { failedAt: NOON + 3 * HOUR, routeId: "fan", bindingId: "" }),
  );
}

describe("operators 2: dead letters in groups", () => {
  it("by route and error code unless asked for others, the largest first, each with a sample", async () => {
    await using admin = await startAdmin();
    await keepFour(admin);
    expect(await groups(admin, "")).toEqual({
      total: 4,
      exact: true,
      counted: 4,
      as_of: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      oldest_failed_at: "2026-01-01T12:00:00.000Z",
      newest_failed_at: "2026-01-01T15:00:00.000Z",
      groups: [
        expect.objectContaining({
          key: { route_id: "alarms", error_code: "REJECTED" },
          count: 2,
          oldest_failed_at: "2026-01-01T12:00:00.000Z",
          newest_failed_at: "2026-01-01T13:00:00.000Z",
          sample: {
            id: expect.stringMatching(/^[ab]$/) as string,
            route_id: "alarms",
            binding_id: "alarms",
            error_code: "REJECTED",
            last_error: "the target said no",
          },
        }) as object,
        expect.objectContaining({ count: 1 }) as object,
        expect.objectContaining({ count: 1 }) as object,
      ],
      more_groups: false,
    });
  });

  it("a key that an entry has not is empty", async () => {
    await using admin = await startAdmin();
    await keepFour(admin);
    await admin.call("POST", "/dlq/annotate", { ids: ["a"], assignee: "alice" });
    expect((await groups(admin, "by=binding_id")).groups).toMatchObject([
      { key: { binding_id: "alarms" }, count: 3 },
      { key: { binding_id: "" }, count: 1 },
    ]);
    expect((await groups(admin, "by=assignee,category")).groups).toContainEqual(
      expect.objectContaining({ key: { assignee: "alice", category: "rejected" }, count: 1 }),
    );
  });

  it.each(["route_id", "binding_id", "category", "error_code", "fingerprint", "assignee", "fingerprint,route_id"])(
    "the groups by %s are all of them",
    async (by) => {
      await using admin = await startAdmin();
      await keepFour(admin);
      const { total, groups: found, more_groups: more } = await groups(admin, `by=${by}`);
      expect([found.reduce((sum, { count }) => sum + count, 0), more]).toEqual([total, false]);
      for (const { key } of found) expect(Object.keys(key)).toEqual(by.split(","));
    },
  );

  it("of more than 200 groups the largest are shown, and that there are more", async () => {
    await using admin = await startAdmin();
    for (let n = 0; n < 201; n++) await keep(admin, deadLetter(`e${n}`, { routeId: `route-${n}` }));
    await keep(admin, deadLetter("again", { routeId: "route-200" }));
    const { total, groups: found, more_groups: more } = await groups(admin, "by=route_id");
    expect([total, found.length, more]).toEqual([202, 200, true]);
    expect(found[0]).toMatchObject({ key: { route_id: "route-200" }, count: 2 });
  });

  it("over time, in at most as many steps as were asked for", async () => {
    await using admin = await startAdmin();
    await keepFour(admin);
    for (const buckets of [1, 2, 48, 200]) {
      const { histogram } = await groups(admin, `buckets=${buckets}`);
      expect(histogram?.counts.length).toBeLessThanOrEqual(buckets);
      expect(histogram?.counts.reduce((sum, count) => sum + count, 0)).toBe(4);
    }
    expect(await groups(admin, "buckets=0")).not.toHaveProperty("histogram");
  });

  it("of nothing there are none", async () => {
    await using admin = await startAdmin();
    expect(await groups(admin, "by=category&buckets=3")).toMatchObject({ total: 0, groups: [], more_groups: false });
  });

  it.each([
    ["by=", "by: expected one or two of route_id, binding_id, category, error_code, fingerprint, assignee"],
    ["by=subject", "by: expected one or two of"],
    ["by=route_id,category,assignee", "by: expected one or two of"],
    ["buckets=201", "buckets: expected an integer from 0 to 200"],
    ["buckets=-1", "buckets: expected an integer from 0 to 200"],
    ["limit=1", "limit: unknown parameter"],
  ])("%s is refused", async (query, error) => {
    await using admin = await startAdmin();
    expect(await admin.call("GET", `/dlq/summary?${query}`)).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining(error) as string },
    });
  });

  it("of a store that cannot count them are 404", async () => {
    await using admin = await startAdmin({ store: "read-only" });
    expect(await admin.call("GET", "/dlq/summary")).toMatchObject({
      status: 404,
      body: { error: "the DLQ store cannot do that" },
    });
  });
});
