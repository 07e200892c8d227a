import { randomUUID } from "node:crypto";
import { leaseStoreCases, type LeaseStoreSubject } from "@bridge/conformance";
import { systemClock } from "@bridge/ports";
import { deadline } from "@bridge/ports/internal";
import { expect, test } from "vitest";
import { openMemoryLeases } from "../../src/lease/open-memory-leases.ts";
import { ENDING_MUTANTS } from "./ending-mutants.ts";
import type { Mutant } from "./mutant.ts";
import { REPLACING_MUTANTS } from "./replacing-mutants.ts";

const MUTANTS = [...REPLACING_MUTANTS, ...ENDING_MUTANTS];

test.for(MUTANTS)("a lease store that $fault is caught: $caughtBy", async (mutant) => {
  const run = caseOf(mutant, subjectOf(mutant));
  using bound = deadline(systemClock, 10_000, new Error("the case did not end"));
  await expect(run(bound.signal)).rejects.toBeInstanceOf(Error);
  expect(bound.signal.aborted).toBe(false);
});

test.for(MUTANTS)("and not for another reason: $caughtBy", async ({ fault, caughtBy }) => {
  using bound = deadline(systemClock, 10_000, new Error("the case did not end"));
  await expect(caseOf({ fault, caughtBy }, subjectOf({ fault, caughtBy }))(bound.signal)).resolves.toBeUndefined();
});

function caseOf({ caughtBy }: Mutant, subject: LeaseStoreSubject): (signal: AbortSignal) => Promise<void> {
  const found = leaseStoreCases(subject).find(({ name }) => name === caughtBy);
  if (found === undefined) throw new Error(`no case ${caughtBy}`);
  return found.run;
}

/** Leases that an abrupt end does not touch, but for what the mutant does to them. */
function subjectOf({ mutate, mutateSecond, reopened }: Mutant): LeaseStoreSubject {
  const name = randomUUID();
  return {
    async open() {
      const store = openMemoryLeases({ name });
      return { ...store, ...mutate?.(store) };
    },
    ...(mutate === undefined && {
      async second() {
        const store = openMemoryLeases({ name });
        return { ...store, ...mutateSecond?.(store) };
      },
    }),
    async reopen() {
      const store = openMemoryLeases({ name });
      return { ...store, ...reopened?.(store) };
    },
  };
}
