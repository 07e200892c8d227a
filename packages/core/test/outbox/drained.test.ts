import { openMemoryDlq } from "@bridge/dlq-memory";
import { openMemoryOutbox } from "@bridge/memory";
import { systemRandom } from "@bridge/ports";
import fc from "fast-check";
import { expect, test } from "vitest";
import { RouteOutbox } from "../../src/outbox/route-outbox.ts";
import { Failures } from "../../src/route/failures.ts";
import { deadLetterId } from "../../src/route/identity.ts";
import { type LegOutcome, summarise } from "../../src/route/outcome.ts";
import { entryOf } from "../dlq-job/job-bridge.ts";
import { envelopeOf } from "../support/envelope.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { partsOf } from "../support/parts-of.ts";

/** What is to be told first, of legs that ended differently. */
const GRAVITY = ["abandoned", "dead_lettered", "dropped", "expired", "filtered", "delivered"] as const;

/** A leg as it came to the outbox, and what another instance has made of its record since. */
const leg = fc.oneof(
  fc.record({
    handed: fc.constantFrom("persisted" as const, "duplicate" as const),
    status: fc.constantFrom("done" as const, "dead" as const, undefined),
    hasEntry: fc.boolean(),
  }),
  fc.record({
    handed: fc.constantFrom("dead_lettered" as const, "dropped" as const, "expired" as const, "filtered" as const),
  }),
);

test("an inject is answered by the gravest of how its legs have ended, before the outbox or out of it, and names those not delivered", async () => {
  const clock = new FakeClock();
  const memory = openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random: systemRandom() });
  const received = envelopeOf({ id: "m1" });
  await fc.assert(
    fc.asyncProperty(fc.array(leg, { maxLength: 5 }), fc.boolean(), async (given, isRedrive) => {
      const legs = given.map((one, at) => ({ bindingId: `b${at}`, recordId: `record ${at}`, ...one }));
      const statuses = new Map(legs.map((one) => [one.recordId, "status" in one ? one.status : undefined]));
      const outbox = { ...memory, shared: true, status: async (id: string) => statuses.get(id) };
      const entries = new Set(
        legs
          .filter((one) => "hasEntry" in one && one.hasEntry)
          .map((one) => deadLetterId("r", one.bindingId, received)),
      );
      const get = async (id: string) => (entries.has(id) ? entryOf(1) : undefined);
      const { parts: built } = partsOf({ clock, outbox, deliveryMode: "shared_outbox" });
      const [route] = built.routes.values();
      if (route === undefined) throw new Error("the bridge has no route");
      const parts = { ...route, dlq: () => ({ ...openMemoryDlq({ maxEntries: 10 }), get }) };
      using own = new RouteOutbox({ parts, failures: new Failures(parts) });
      using redriven = isRedrive ? own.watchEntry("e1") : undefined;
      const handed = summarise(
        legs.map(({ handed: disposition, bindingId, recordId }): LegOutcome => {
          const isRecord = disposition === "persisted" || disposition === "duplicate";
          return { disposition, bindingId, ...(isRecord && { recordId }) };
        }),
      );
      const answer = await own.drained(received, handed, redriven, bound());

      const ends = legs.map((one) => {
        if (!("status" in one)) return one.handed;
        if (one.status === "done") return "delivered";
        if (one.status === undefined) return "abandoned";
        // The dead letter of another redrive has another id.
        return one.hasEntry || (isRedrive && one.handed === "duplicate") ? "dead_lettered" : "dropped";
      });
      const seen = legs.some((one) => one.handed === "duplicate");
      expect(answer.disposition).toBe(GRAVITY.find((end) => ends.includes(end)) ?? "delivered");
      const failed = legs.filter((_, at) => ends[at] !== "delivered").map(({ bindingId }) => bindingId);
      expect(answer.failedBindings.toSorted()).toEqual(failed);
      expect(answer.warning !== undefined).toBe(seen);
      expect(answer.entryMayBeGone).toBe(isRedrive ? !seen : undefined);
    }),
    { numRuns: 100 },
  );
});
