import { openMemoryDlq } from "@bridge/dlq-memory";
import { expect, test } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { AT_ONCE, begun, entryOf, fill, orderOf, started, stored, until } from "./job-bridge.ts";

const LONG = "x".repeat(70_000);

async function withOdd(changes: { readonly routeId?: string; readonly id?: string }) {
  const clock = new FakeClock();
  const dlq = openMemoryDlq({ maxEntries: 100, clock });
  await fill(dlq, 10);
  await dlq.put({ ...entryOf(5), id: "odd", ...changes }, bound());
  return { dlq, bridge: await started({ clock, dlq }) };
}

test("an entry whose route_id somebody has made too long for a job's document keeps no plan from the others", async () => {
  const { bridge, dlq } = await withOdd({ routeId: LONG });
  const { id, plan } = await begun(bridge);
  expect(plan).toMatchObject({ total: 10, exact: true, lanes: [{ routeId: "r", count: 10 }] });
  expect(plan.predicted).toMatchObject({ examined: 10, deliverable: 10 });
  expect(plan.warnings).toEqual([
    "1 have a route_id of more than 256 characters, which no route has: they are not in the plan, and can only be deleted",
  ]);
  const { counts, total } = await until(bridge, id, "completed");
  expect([total, counts]).toMatchObject([10, { succeeded: 10, failed: 0, skipped: 0 }]);
  expect(await stored(dlq)).toEqual(["odd"]);
  await bridge.supervisor.shutdown();
});

test("and is purged with them", async () => {
  const { bridge, dlq } = await withOdd({ routeId: LONG });
  const { id, plan } = await begun(bridge, { kind: "purge", settings: { ...AT_ONCE, rate: 5_000 } });
  expect(plan).toMatchObject({ total: 11, warnings: [expect.stringContaining("they are purged, too") as unknown] });
  expect((await until(bridge, id, "completed")).counts).toMatchObject({ succeeded: 11 });
  expect(await stored(dlq)).toEqual([]);
  await bridge.supervisor.shutdown();
});

test.each(["redrive", "purge"] as const)(
  "a %s goes on behind an entry whose id is too long for a job's document",
  async (kind) => {
    const { bridge, dlq } = await withOdd({ id: `e00005${"\u{1F600}".repeat(35_000)}` });
    const { id } = await begun(bridge, { kind, limit: 7, settings: { ...AT_ONCE, rate: 5_000 } });
    expect((await until(bridge, id, "completed")).counts).toMatchObject({ succeeded: 7, skipped: 0 });
    expect(await stored(dlq)).toEqual(["e00006", "e00007", "e00008", "e00009"]);
    await bridge.supervisor.shutdown();
  },
);

test("a filter that is too long for a job's document is refused with what to do", async () => {
  const { bridge } = await withOdd({});
  await expect(
    bridge.supervisor.jobs().plan(orderOf({ query: { subjectPrefix: LONG } }), bound()),
  ).rejects.toMatchObject({ kind: "conflict", message: expect.stringContaining("give a shorter filter") as unknown });
  await bridge.supervisor.shutdown();
});
