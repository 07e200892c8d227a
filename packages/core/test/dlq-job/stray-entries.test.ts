import { openMemoryDlq } from "@bridge/dlq-memory";
import type { DeadLetter, DlqStore } from "@bridge/ports";
import { SpoiledDeadLetter } from "@bridge/ports/internal";
import { expect, test } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { AT_ONCE, begun, fill, orderOf, started, stored, until } from "./job-bridge.ts";

const STRAYS = ["e00003", "e00007"];

/** A store that shows some entries under a route under which it does not have them, as one that finds them by what is written there. */
async function withStrays(get?: (id: string) => Promise<DeadLetter | undefined> | undefined) {
  const clock = new FakeClock();
  const dlq = openMemoryDlq({ maxEntries: 100, clock });
  await fill(dlq, 20);
  const page: typeof dlq.page = async (query, bounds, signal) => {
    const found = await dlq.page(query, bounds, signal);
    const entries = found.entries.flatMap((head) => {
      if (!STRAYS.includes(head.id)) return [head];
      return query.routeId === undefined ? [{ ...head, routeId: "changed" }] : [];
    });
    return { ...found, entries };
  };
  const facets: typeof dlq.facets = () => Promise.reject(new Error("it counts as pages tell"));
  const shown: DlqStore = { ...dlq, page, facets, get: (id, signal) => get?.(id) ?? dlq.get(id, signal) };
  return { dlq, bridge: await started({ clock, dlq: shown }) };
}

test("what no lane of a redrive of all routes has met, and is there, is sent where it says that it belongs", async () => {
  const { dlq, bridge } = await withStrays();
  const { id, plan } = await begun(bridge);
  expect(plan).toMatchObject({ total: 20, exact: true });
  const { counts } = await until(bridge, id, "completed");
  expect(counts).toMatchObject({ succeeded: 20, failed: 0, skipped: 0, inDoubt: 0 });
  expect(bridge.hub.channel("out").arrived).toBe(20);
  expect(await stored(dlq)).toEqual([]);
  await bridge.supervisor.shutdown();
});

test("and is told as damaged when it cannot be read, once", async () => {
  const { dlq, bridge } = await withStrays((id) =>
    STRAYS.includes(id) ? Promise.reject(new SpoiledDeadLetter(id)) : undefined,
  );
  const { id } = await begun(bridge);
  const { counts, errors, total } = await until(bridge, id, "completed");
  expect(total).toBe(20);
  expect(counts).toMatchObject({ succeeded: 18, failed: 2, skipped: 0 });
  expect(errors.map(({ code }) => code)).toEqual(errors.map(() => "INTERNAL"));
  const { entries } = await dlq.page({ jobId: id }, { limit: 10, budget: 10, order: "oldest" }, bound());
  expect(entries.map((head) => head.id)).toEqual(STRAYS);
  await bridge.supervisor.shutdown();
});

test("what has failed in its lane, or was deleted meanwhile, is not counted again", async () => {
  const { dlq, bridge } = await withStrays((id) =>
    id === "e00001" ? Promise.reject(new SpoiledDeadLetter(id)) : undefined,
  );
  const { job } = await bridge.supervisor.jobs().plan(orderOf(), bound());
  await dlq.admin.delete(["e00005", STRAYS[0] ?? ""], bound());
  await bridge.supervisor.jobs().start(job.id, { planHash: job.plan.hash }, bound());
  const { counts, total } = await until(bridge, job.id, "completed");
  expect([total, counts]).toMatchObject([20, { succeeded: 17, failed: 1, skipped: 2 }]);
  await bridge.supervisor.shutdown();
});

test("what has failed in its lane is not sent again where a redrive of the entry alone has put its mark in place of the job's", async () => {
  const { dlq, bridge } = await withStrays((id) =>
    id === "e00001" ? Promise.reject(new SpoiledDeadLetter(id)) : undefined,
  );
  const { job } = await bridge.supervisor.jobs().plan(orderOf({ settings: { ...AT_ONCE, rate: 5 } }), bound());
  await dlq.admin.delete(["e00019"], bound());
  await bridge.supervisor.jobs().start(job.id, { planHash: job.plan.hash }, bound());
  await until(bridge, job.id, ({ counts }) => counts.failed === 1);
  const alone = { lastAt: 0, lastCode: "REJECTED", lastError: "no", jobTry: 7 } as const;
  await dlq.marks.mark(new Map([["e00001", { redriven: alone }]]), bound());
  const { counts } = await until(bridge, job.id, "completed");
  expect(counts).toMatchObject({ succeeded: 18, failed: 1, skipped: 1 });
  await bridge.supervisor.shutdown();
});
