import { SuiteClock } from "@bridge/conformance";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { WindowLimits } from "../src/index.ts";
import { outboxCommands } from "./support/outbox-commands.ts";
import { OutboxModel } from "./support/outbox-model.ts";
import { openScratchOutbox } from "./support/scratch-outbox.ts";

const SMALL: WindowLimits = { queueLength: 3, maxQueueLength: 1_000, chunk: 2, contentBytes: 20_000 };

test.each<[string, WindowLimits | undefined, number]>([
  ["all of it in memory", undefined, 25],
  ["most of it in the file", SMALL, 40],
])("does what a naive list does, killed now and then: %s", { timeout: 120_000 }, async (_, window, numRuns) => {
  await fc.assert(
    fc.asyncProperty(outboxCommands, async (commands) => {
      const options = { clock: new SuiteClock(1_767_225_600_000), window };
      const real = { store: openScratchOutbox(options), options, claims: [], count: 0 };
      try {
        const model = new OutboxModel();
        await fc.asyncModelRun(() => ({ model, real }), commands);
        const left = await real.store.list({}, { limit: 1_000, offset: 0 }, new AbortController().signal);
        expect(left.map(({ id }) => id)).toEqual(model.pending().map(({ record }) => record.id));
      } finally {
        await real.store[Symbol.asyncDispose]();
      }
    }),
    { numRuns },
  );
});
