import { outboxStoreCases, type OutboxStoreSubject } from "@bridge/conformance";
import { systemRandom, systemClock } from "@bridge/ports";
import { deadline } from "@bridge/ports/internal";
import { expect, test } from "vitest";
import { type MemoryOutboxOptions, openMemoryOutbox } from "../../src/outbox/open-memory-outbox.ts";
import { CLAIMING_MUTANTS } from "./claiming-mutants.ts";
import { ENDING_MUTANTS } from "./ending-mutants.ts";
import type { Mutant } from "./mutant.ts";
import { PERSISTING_MUTANTS } from "./persisting-mutants.ts";
import { SURVIVING_MUTANTS } from "./surviving-mutants.ts";
import { VIEWING_MUTANTS } from "./viewing-mutants.ts";

const MUTANTS = [
  ...PERSISTING_MUTANTS,
  ...CLAIMING_MUTANTS,
  ...ENDING_MUTANTS,
  ...VIEWING_MUTANTS,
  ...SURVIVING_MUTANTS,
];

test.for(MUTANTS)("an outbox that $fault is caught", async (mutant) => {
  const run = caseOf(mutant, subjectOf(mutant));
  using bound = deadline(systemClock, 10_000, new Error("the case did not end"));
  await expect(run(bound.signal)).rejects.toBeInstanceOf(Error);
  expect(bound.signal.aborted).toBe(false);
});

test.for(MUTANTS)("and not for another reason: $caughtBy", async (mutant) => {
  const { mutate: _, options: __, reopen: ___, ...sound } = mutant;
  using bound = deadline(systemClock, 10_000, new Error("the case did not end"));
  await expect(caseOf(mutant, subjectOf(sound))(bound.signal)).resolves.toBeUndefined();
});

function caseOf({ caughtBy }: Mutant, subject: OutboxStoreSubject): (signal: AbortSignal) => Promise<void> {
  const found = outboxStoreCases(subject).find(({ name }) => name === caughtBy);
  if (found === undefined) throw new Error(`no case ${caughtBy}`);
  return found.run;
}

/** A store that is not closed by its abrupt end, and so keeps all that the mutant lets it keep. */
function subjectOf({ options, mutate, reopen }: Mutant): OutboxStoreSubject {
  let opened: MemoryOutboxOptions | undefined;
  return {
    async open(suite) {
      const sound = { ...suite, maxRecords: 2_000, random: systemRandom() };
      opened = { ...sound, ...options?.(sound) };
      const store = openMemoryOutbox(opened);
      return { ...store, ...mutate?.(store, opened) };
    },
    reopen: async (store) => (opened !== undefined && (await reopen?.(store, opened))) || store,
  };
}
