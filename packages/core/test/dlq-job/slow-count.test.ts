import { openMemoryDlq } from "@bridge/dlq-memory";
import type { FacetsRequest } from "@bridge/ports";
import { expect, test } from "vitest";
import type { Job } from "../../src/dlq-job/job.ts";
import { BoundingClock } from "../support/bounding-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { progressOf } from "../../src/dlq-job/progress.ts";
import { fill, orderOf, started, until } from "./job-bridge.ts";
import { seenDlq } from "./seen-dlq.ts";

/** What the plan of a redrive says, of a store that takes its time for some calls, and how it is carried out. */
async function planned(
  count: number,
  slow: Readonly<Record<string, number>>,
  { counts = () => true, carried }: { counts?: (request: FacetsRequest) => boolean; carried?: (job: Job) => void } = {},
): Promise<Job | Error> {
  const clock = new BoundingClock();
  const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
  await fill(dlq, count);
  let isSlow = true;
  const facets: typeof dlq.facets = (request, signal) =>
    counts(request) ? dlq.facets(request, signal) : Promise.reject(new Error("it does not count that"));
  const store = seenDlq({ ...dlq, facets }, (name) => {
    const ms = slow[name];
    return ms === undefined || !isSlow ? undefined : clock.delay(ms, bound());
  });
  const bridge = await started({ clock, dlq: store });
  let told: Job | Error | undefined;
  bridge.supervisor
    .jobs()
    .plan(orderOf(), bound())
    .then(
      ({ job }) => (told = job),
      (error: Error) => (told = error),
    );
  await clock.until(() => told !== undefined);
  if (carried !== undefined) {
    isSlow = false;
    const { id, plan } = told as unknown as Job;
    await bridge.supervisor.jobs().start(id, { planHash: plan.hash }, bound());
    await until(bridge, id, (job) => {
      carried(job);
      return job.state === "completed";
    });
  }
  await bridge.supervisor.shutdown();
  return told as unknown as Job | Error;
}

test("a plan of which the store has told nothing in time is none: it does not say that there is nothing", async () => {
  expect(await planned(120, { facets: 60_000, page: 60_000 })).toMatchObject({ code: "TIMEOUT" });
});

test("a store that cannot count in time is read, which has its own time", async () => {
  expect(await planned(120, { facets: 60_000 })).toMatchObject({ plan: { total: 120, exact: true, warnings: [] } });
});

test("what was counted in time is told, and that there may be more", async () => {
  const { plan } = (await planned(5_000, { facets: 60_000, page: 2_000 })) as Job;
  expect(plan).toMatchObject({ total: 2_000, exact: false });
  expect(plan.warnings[0]).toMatch(/^2000 were counted in time: there may be more/);
});

/** As stores that count by columns do, and look at marks one by one. */
const counts = ({ query }: FacetsRequest): boolean => query.quarantined === undefined;

test("what could not be counted in time is told by the store's own count of all that match", async () => {
  const { plan, lanes } = (await planned(5_000, { page: 2_000 }, { counts })) as Job;
  expect(plan).toMatchObject({ total: 5_000, seen: 2_000, exact: false, estimatedMs: 500 });
  expect(plan.warnings[0]).toMatch(/^2000 were looked at in time; 5000 match by the count of the store/);
  expect(lanes).toMatchObject([{ routeId: "r", total: 5_000 }]);
});

test.each([
  ["nobody has counted", { facets: 60_000, page: 2_000 }, () => true, 2_000],
  ["the store has counted", { page: 2_000 }, counts, 5_000],
])("a job of which %s all is never all done while it finds more", async (_, slow, mayCount, total) => {
  const told: object[] = [];
  const carried = (job: Job): void => {
    const { isLeftKnown, percent, remaining } = progressOf(job);
    const isSaidToBeDone = isLeftKnown && (percent === 100 || remaining === 0);
    if (isSaidToBeDone !== (job.state === "completed")) told.push({ state: job.state, ...progressOf(job) });
  };
  const job = await planned(5_000, slow, { counts: mayCount, carried });
  expect(job).toMatchObject({ total, plan: { exact: false } });
  expect(told).toEqual([]);
});
