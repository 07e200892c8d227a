import { openMemoryDlq } from "@bridge/dlq-memory";
import { BridgeError, type DeadLetterQuery, type MarkChange } from "@bridge/ports";
import { memoryHub } from "@bridge/transport-memory";
import fc from "fast-check";
import { expect, test } from "vitest";
import { doneOf } from "../../src/dlq-job/job.ts";
import { isPlanned } from "../../src/dlq-job/planned-entry.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { AT_ONCE, begun, entryOf, fill, started, stored, until } from "./job-bridge.ts";
import { seenDlq } from "./seen-dlq.ts";

const COUNT = 40;
const ids = Array.from({ length: COUNT }, (_, nth) => entryOf(nth).id);

const marking = fc.record({
  ids: fc.subarray(ids),
  change: fc.oneof(
    fc.record({ quarantined: fc.boolean() }),
    fc.record({ assignee: fc.constantFrom("", "alice", "bob") }),
  ),
});
const meanwhile = fc.record({ afterMs: fc.integer({ min: 0, max: 800 }), marking, kills: fc.boolean() });
const filters = fc.constantFrom<DeadLetterQuery>(
  {},
  { quarantined: false },
  { quarantined: true },
  { assignee: "bob" },
  { assignee: "" },
);

test("operators 3.4: whatever is marked while a job runs, and whoever is killed, it takes nothing but what it was planned for, and all of that which nobody has marked", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        kind: fc.constantFrom("redrive", "purge"),
        query: filters,
        limit: fc.option(fc.integer({ min: 1, max: COUNT }), { nil: undefined }),
        undoWithinMs: fc.constantFrom(0, 3_600_000),
        before: fc.array(marking, { maxLength: 3 }),
        while: fc.array(meanwhile, { maxLength: 4 }),
      }),
      async ({ kind, query, limit, undoWithinMs, before, while: steps }) => {
        const clock = new FakeClock();
        const hub = memoryHub();
        const dlq = openMemoryDlq({ maxEntries: 1_000, clock });
        await fill(dlq, COUNT);
        const mark = async (which: readonly string[], change: MarkChange): Promise<void> => {
          const changes = new Map(which.map((id) => [id, { ...change, at: clock.now() }]));
          await dlq.marks.mark(changes, bound());
        };
        for (const { ids: which, change } of before) await mark(which, change);
        await clock.advance(1);
        const heldBack = kind === "redrive" && query.quarantined === undefined && { quarantined: false };
        const page = { limit: limit ?? COUNT, budget: COUNT, order: "oldest" } as const;
        const { entries } = await dlq.page({ ...query, ...heldBack }, page, bound());
        const planned = entries.map((head) => head.id);
        let kill = (): void => {};
        const open = () => {
          let isDead = false;
          kill = () => (isDead = true);
          const store = seenDlq(dlq, () => {
            if (isDead) throw new BridgeError("CONNECTION_LOST", "killed");
          });
          return started({ clock, hub, dlq: store });
        };
        let bridge = await open();
        const settings = { ...AT_ONCE, rate: 20, concurrency: 4 };
        const { id, total } = await begun(bridge, {
          kind,
          query,
          limit,
          settings,
          ...(kind === "purge" && { undoWithinMs }),
        });
        expect(total).toBe(planned.length);
        await clock.advance(1);
        const marked = new Set<string>();
        for (const { afterMs, marking: step, kills } of steps) {
          await clock.advance(afterMs);
          for (const each of step.ids) marked.add(each);
          await mark(step.ids, step.change);
          if (!kills) continue;
          kill();
          bridge = await open();
        }
        const done = await until(bridge, id, "completed");
        expect({ total: done.total, done: doneOf(done.counts) }).toEqual({
          total: planned.length,
          done: planned.length,
        });
        const left = new Set(await stored(dlq));
        const gone = ids.filter((each) => !left.has(each));
        const sent = hub
          .channel("out")
          .messages()
          .map(({ subject }) => subject);
        expect(planned).toEqual(expect.arrayContaining([...new Set([...gone, ...sent])]));
        expect(gone).toEqual(expect.arrayContaining(planned.filter((each) => !marked.has(each))));
        await bridge.supervisor.shutdown();
      },
    ),
    { numRuns: 60 },
  );
}, 60_000);

test("a plan warns of what was marked by a clock that is ahead, which its job leaves out", async () => {
  const bridge = await started();
  const { clock, dlq, supervisor } = bridge;
  await fill(dlq, 3);
  const at = clock.now() + 3_600_000;
  for (const quarantined of [true, false]) await dlq.marks?.mark(new Map([["e00001", { quarantined, at }]]), bound());
  const { id, plan } = await begun(bridge);
  expect(plan.warnings).toContain(
    "1 of 3 looked at were marked later than the clock of this instance says, and the job leaves them out: check the clocks, then quarantine and assign them anew",
  );
  expect(await until(bridge, id, "completed")).toMatchObject({ total: 3, counts: { succeeded: 2, skipped: 1 } });
  expect(await stored(dlq)).toEqual(["e00001"]);
  await supervisor.shutdown();
});

test("what a job has tried it may try again, whatever was marked since; of what it has not, only what was not", () => {
  const job = { id: "j", kind: "redrive", query: {}, createdAt: 10 } as const;
  const mark = { count: 1, lastAt: 12, lastCode: "TIMEOUT", lastError: "no", jobTry: 1 } as const;
  const cases = [
    [undefined, job, true],
    [{ quarantinedAt: 10 }, job, true],
    [{ quarantinedAt: 11 }, job, false],
    [{ quarantinedAt: 11 }, { ...job, kind: "purge" }, true],
    [{ quarantinedAt: 11 }, { ...job, kind: "purge", query: { quarantined: false } }, false],
    [{ quarantinedAt: 11, redrives: { ...mark, jobId: "j" } }, job, true],
    [{ assignedAt: 11 }, job, true],
    [{ assignedAt: 11 }, { ...job, query: { assignee: "" } }, false],
    [{ redrives: { ...mark, jobId: "k" } }, job, true],
    [{ redrives: { ...mark, jobId: "k" } }, { ...job, query: { jobId: "k" } }, false],
    [{ redrives: { ...mark, lastAt: 9, jobId: "k" } }, { ...job, query: { jobId: "k" } }, true],
  ] as const;
  for (const [marks, of, is] of cases)
    expect([marks, of, isPlanned(marks === undefined ? {} : { marks }, of)]).toEqual([marks, of, is]);
});
