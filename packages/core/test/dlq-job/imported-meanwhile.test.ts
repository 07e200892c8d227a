import { openMemoryDlq } from "@bridge/dlq-memory";
import { times } from "@bridge/tooling/long";
import fc from "fast-check";
import { expect, test } from "vitest";
import { doneOf } from "../../src/dlq-job/job.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, refusal } from "../support/memory-bridge.ts";
import { AT_ONCE, begun, entryOf, fill, started, stored, until } from "./job-bridge.ts";

const ENTRIES = 24;
const RUNS = times(20, 400);

test("interface 4.12.3: what is imported again while a job runs over the same entries is sent once for each time, or left, and is counted", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("direct_hold" as const, "shared_outbox" as const),
      fc.record({ rate: fc.constantFrom(20, 200, 10_000), concurrency: fc.constantFrom(1, 4, 16) }),
      fc.array(
        fc.record({
          afterMs: fc.integer({ min: 0, max: 800 }),
          first: fc.integer({ min: 0, max: ENTRIES - 1 }),
          count: fc.integer({ min: 1, max: ENTRIES }),
        }),
        { minLength: 1, maxLength: 8 },
      ),
      fc.integer({ min: 0, max: 5 }),
      async (deliveryMode, pace, imports, refused) => {
        const clock = new FakeClock();
        const dlq = openMemoryDlq({ maxEntries: 1_000, clock });
        const bridge = await started({ clock, dlq, deliveryMode });
        const out = bridge.hub.channel("out");
        await fill(dlq, ENTRIES);
        out.sends.failNext(refused, refusal);
        const { id } = await begun(bridge, { settings: { ...AT_ONCE, ...pace } });
        const copies = new Map(Array.from({ length: ENTRIES }, (_, nth) => [entryOf(nth).id, 1]));
        for (const { afterMs, first, count } of imports) {
          await clock.advance(afterMs);
          for (let nth = first; nth < Math.min(first + count, ENTRIES); nth++) {
            const entry = entryOf(nth);
            if ((await dlq.get(entry.id, bound())) !== undefined) continue;
            await dlq.put(entry, bound());
            copies.set(entry.id, (copies.get(entry.id) ?? 0) + 1);
          }
        }
        const done = await until(bridge, id, "completed");
        const left = await stored(dlq);
        const ends = new Map<string, number>();
        for (const one of [...left, ...out.messages().map(({ subject }) => subject)])
          ends.set(one, (ends.get(one) ?? 0) + 1);
        // An outbox recognizes what it has taken in this try: it delivers that once.
        for (const [entry, most] of copies) {
          const count = ends.get(entry) ?? 0;
          const least = deliveryMode === "direct_hold" ? most : 1;
          expect({ entry, least, most, count, isRight: least <= count && count <= most }).toMatchObject({
            isRight: true,
          });
        }
        expect(doneOf(done.counts)).toBe(done.total);
        expect(done.counts).toMatchObject({ failed: refused, skipped: 0, inDoubt: 0 });
        if (deliveryMode === "direct_hold") expect(done.counts.succeeded).toBe(out.arrived);
        expect(bridge.supervisor.stats()).toMatchObject({ unaccounted: 0 });
        const rest = await begun(bridge);
        expect((await until(bridge, rest.id, "completed")).counts).toMatchObject({ succeeded: left.length });
        expect(await stored(dlq)).toEqual([]);
        await bridge.supervisor.shutdown();
      },
    ),
    { numRuns: RUNS },
  );
});
