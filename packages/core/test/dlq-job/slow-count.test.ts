import { openMemoryDlq } from "@bridge/dlq-memory";
import { expect, test } from "vitest";
import type { Job } from "../../src/dlq-job/job.ts";
import { BoundingClock } from "../support/bounding-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { fill, orderOf, started } from "./job-bridge.ts";
import { seenDlq } from "./seen-dlq.ts";

/** What the plan of a redrive says, of a store that takes its time for some calls. */
async function planned(count: number, slow: Readonly<Record<string, number>>): Promise<Job | Error> {
  const clock = new BoundingClock();
  const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
  await fill(dlq, count);
  const store = seenDlq(dlq, (name) => {
    const ms = slow[name];
    return ms === undefined ? undefined : clock.delay(ms, bound());
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
