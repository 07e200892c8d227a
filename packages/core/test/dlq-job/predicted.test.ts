import { openMemoryDlq } from "@bridge/dlq-memory";
import { BridgeError, type DeadLetter, type Processor } from "@bridge/ports";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Predicted } from "../../src/dlq-job/job-plan.ts";
import { envelopeOf } from "../support/envelope.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { entryOf, orderOf, started, stored, until } from "./job-bridge.ts";
import { seenDlq } from "./seen-dlq.ts";

/** Calls of a store that change something. */
const CHANGES = /^(put|marks\.mark|jobs\.(put|delete)|admin\.(delete|deleteWhere|trash\.(move|restore)))$/;

const OUTCOMES: Readonly<Record<string, Predicted>> = {
  MESSAGE_EXPIRED: "expired",
  MESSAGE_FILTERED: "filtered",
  BINDING_UNRESOLVED: "no_route",
};

const KINDS = ["deliverable", "expired", "filtered", "gone route", "gone binding"] as const;

function changesOf(kind: (typeof KINDS)[number], nth: number, now: number): Partial<DeadLetter> {
  const envelope = envelopeOf({ id: `m${nth}`, subject: kind });
  switch (kind) {
    case "gone route":
      return { routeId: "gone", envelope };
    case "gone binding":
      return { bindingId: "gone", envelope };
    case "expired":
      return { envelope: { ...envelope, expiresAt: now - 1 } };
    case "deliverable":
    case "filtered":
      return { envelope };
  }
}

/** Filters by the subject. */
const filter: Processor = {
  async process(envelope) {
    if (envelope.subject === "filtered") throw new BridgeError("MESSAGE_FILTERED", "not wanted");
    return { kind: "pass", envelope };
  },
};

test("operators 3.5.5: what a plan says of each entry is what becomes of it, and planning changes nothing but the job's own document", async () => {
  await fc.assert(
    fc.asyncProperty(
      // All of such a set are in the sample, so that each entry can be held against what was said of it.
      fc.array(fc.constantFrom(...KINDS), { minLength: 1, maxLength: 10 }),
      fc.constantFrom("direct_hold" as const, "shared_outbox" as const),
      async (kinds, deliveryMode) => {
        const clock = new FakeClock();
        const dlq = openMemoryDlq({ maxEntries: 100, clock });
        const calls: string[] = [];
        const seen = seenDlq(dlq, (name) => void (CHANGES.test(name) && calls.push(name)));
        const bridge = await started({ clock, dlq: seen, processors: [filter], deliveryMode });
        const { hub, supervisor } = bridge;
        for (const [nth, kind] of kinds.entries())
          await dlq.put(entryOf(nth, changesOf(kind, nth, clock.now())), bound());
        const before = JSON.stringify(await dlq.list({}, { limit: 100, offset: 0 }, bound()));
        const { job } = await supervisor.jobs().plan(orderOf(), bound());
        expect(calls).toEqual(["jobs.put"]);
        expect(JSON.stringify(await dlq.list({}, { limit: 100, offset: 0 }, bound()))).toBe(before);
        expect(hub.channel("out").arrived).toBe(0);
        if (deliveryMode === "shared_outbox")
          expect(await bridge.outbox.list({}, { limit: 1, offset: 0 }, bound())).toEqual([]);

        const predicted = job.plan.sample.map(({ id, outcome }) => [id, outcome]);
        await supervisor.jobs().start(job.id, { planHash: job.plan.hash }, bound());
        await until(bridge, job.id, "completed");
        const left = new Set(await stored(dlq));
        const actual = await Promise.all(
          kinds.map(async (_, nth) => {
            const { id } = entryOf(nth);
            if (!left.has(id)) return [id, "deliverable"];
            const code = (await dlq.get(id, bound()))?.marks?.redrives?.lastCode ?? "none";
            return [id, OUTCOMES[code] ?? code];
          }),
        );
        expect(predicted).toEqual(actual);
        const count = (kind: Predicted): number => actual.filter(([, outcome]) => outcome === kind).length;
        expect(job.plan.predicted).toMatchObject({
          examined: kinds.length,
          deliverable: count("deliverable"),
          expired: count("expired"),
          filtered: count("filtered"),
          no_route: count("no_route"),
          failed: 0,
        });
        await supervisor.shutdown();
      },
    ),
    { numRuns: 60 },
  );
});
