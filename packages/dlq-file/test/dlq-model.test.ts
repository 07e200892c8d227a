import fc from "fast-check";
import { expect, test } from "vitest";
import { dlqCommands } from "./support/dlq-commands.ts";
import { DlqModel, headOf } from "./support/dlq-model.ts";
import { openScratchDlq } from "./support/scratch-dlq.ts";

test("does what a naive list does, killed now and then", { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(dlqCommands, async (commands) => {
      const model = new DlqModel();
      const real = { store: openScratchDlq() };
      try {
        await fc.asyncModelRun(() => ({ model, real }), commands);
        const all = await real.store.list({}, { limit: 100, offset: 0 }, new AbortController().signal);
        expect(all).toEqual(model.matching({}).map(headOf));
      } finally {
        await real.store[Symbol.asyncDispose]();
      }
    }),
    { numRuns: 60 },
  );
});
