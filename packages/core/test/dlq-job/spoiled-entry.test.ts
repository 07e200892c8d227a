import { openMemoryDlq } from "@bridge/dlq-memory";
import { SpoiledDeadLetter } from "@bridge/ports/internal";
import { expect, test } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { begun, fill, orderOf, started, stored, until } from "./job-bridge.ts";

const SPOILED = "e00003";

test.each(["direct_hold", "shared_outbox"] as const)(
  "an entry that is not as it was written keeps no job from the others: it fails, and nothing of it is sent, in %s",
  async (deliveryMode) => {
    const clock = new FakeClock();
    const dlq = openMemoryDlq({ maxEntries: 100, clock });
    const bridge = await started({
      clock,
      deliveryMode,
      dlq: {
        ...dlq,
        get: (id, signal) => (id === SPOILED ? Promise.reject(new SpoiledDeadLetter(id)) : dlq.get(id, signal)),
      },
    });
    await fill(dlq, 20);
    const { job } = await bridge.supervisor.jobs().plan(orderOf(), bound());
    expect(job.plan.predicted).toMatchObject({ examined: 20, deliverable: 19, failed: 1 });
    const { id } = await begun(bridge);
    const done = await until(bridge, id, "completed");
    expect(done.counts).toMatchObject({ succeeded: 19, failed: 1, skipped: 0, inDoubt: 0 });
    expect(done.errors).toMatchObject([
      { code: "INTERNAL", count: 1, error: expect.stringMatching(/not as it was written.*delete it/) as unknown },
    ]);
    expect(bridge.hub.channel("out").arrived).toBe(19);
    expect(await stored(dlq)).toEqual([SPOILED]);
    const { entries } = await dlq.page({ jobId: id }, { limit: 10, budget: 10, order: "oldest" }, bound());
    expect(entries).toMatchObject([
      { id: SPOILED, marks: { redrives: { count: 1, lastCode: "INTERNAL", jobId: id, jobTry: 1 } } },
    ]);
    await bridge.supervisor.shutdown();
  },
);

test("spec 2.16: of entries that are listed and not found by their ids a plan warns, and a redrive passes over them", async () => {
  const clock = new FakeClock();
  const dlq = openMemoryDlq({ maxEntries: 100, clock });
  const gone = "e00005";
  const get: typeof dlq.get = async (id, signal) => {
    if (id === gone) await dlq.admin.delete([id], signal);
    return id === SPOILED ? undefined : dlq.get(id, signal);
  };
  const bridge = await started({ clock, dlq: { ...dlq, get } });
  await fill(dlq, 20);
  const { job } = await bridge.supervisor.jobs().plan(orderOf(), bound());
  expect(job.plan.predicted).toMatchObject({ examined: 18, deliverable: 18 });
  expect(job.plan.warnings).toContainEqual(
    "1 of 20 looked at are listed, and not found by their ids: a redrive passes over them",
  );
  const { id } = await begun(bridge);
  const { counts } = await until(bridge, id, "completed");
  expect(counts).toMatchObject({ succeeded: 18, failed: 0, skipped: 1 });
  expect(await stored(dlq)).toEqual([SPOILED]);
  await bridge.supervisor.shutdown();
});
