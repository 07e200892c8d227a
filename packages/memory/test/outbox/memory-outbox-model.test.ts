import { SuiteClock } from "@bridge/conformance";
import { systemRandom } from "@bridge/ports";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openMemoryOutbox } from "../../src/outbox/open-memory-outbox.ts";
import { OutboxModel } from "./outbox-model.ts";
import { type Known, STEPS, type Tried } from "./outbox-steps.ts";

const LIMITS = { maxRecords: 12, retentionMs: 5_000 };

test("does what a naive list does, step by step, for two owners whose loans lapse", { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(STEPS, { maxCommands: 80, size: "max" }), async (steps) => {
      const clock = new SuiteClock(1_767_225_600_000);
      await using store = openMemoryOutbox({ ...LIMITS, clock, random: systemRandom() });
      const known: Known = { model: new OutboxModel({ ...LIMITS, clock }), loans: [[], []], persisted: 0 };
      const tried: Tried = { store, clock, tokens: new Map() };
      await fc.asyncModelRun(() => ({ model: known, real: tried }), steps);
      const all = { limit: Infinity, offset: 0 };
      expect(await store.list({}, all, new AbortController().signal)).toEqual(known.model.list({}, all));
    }),
    { numRuns: 300 },
  );
});
