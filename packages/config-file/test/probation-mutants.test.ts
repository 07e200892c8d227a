import { AssertionError } from "node:assert/strict";
import { type ConfigProbationCaseName, configProbationCases } from "@bridge/conformance";
import { type ConfigProbations, type ConfigStore, type LeftProbation, systemClock } from "@bridge/ports";
import { deadline } from "@bridge/ports/internal";
import { expect, test } from "vitest";
import { fileSubject } from "./support/file-subject.ts";

interface Mutant {
  /** What is wrong with the store: "a store that …". */
  readonly fault: string;
  readonly caughtBy: ConfigProbationCaseName;
  /** `left` outlasts the stores of one place. */
  readonly change: (
    probations: ConfigProbations,
    store: ConfigStore,
    left: { begun?: LeftProbation | undefined },
  ) => Partial<ConfigProbations>;
}

const MUTANTS: readonly Mutant[] = [
  {
    fault: "notes nothing",
    caughtBy: "a process that dies leaves what was on probation, and what comes back",
    change: (_, store) => ({
      begin: (document, expected, _probation, signal) => store.write(document, expected, signal),
    }),
  },
  {
    fault: "tells the new document for the former",
    caughtBy: "what comes back is stored again exactly as it was",
    change: (probations) => ({
      async find(signal) {
        const left = await probations.find(signal);
        return left === undefined || !("current" in left) || left.current === undefined
          ? undefined
          : { ...left, former: left.current };
      },
    }),
  },
  {
    fault: "forgets that its process has ended in order",
    caughtBy: "what is noted last is what is found",
    change: (probations) => ({
      note: (standing, signal) => probations.note({ ...standing, orderly: false }, signal),
    }),
  },
  {
    fault: "takes any end for an orderly one",
    caughtBy: "what was found can be noted again, and comes back all the same",
    change: (probations) => ({
      note: (standing, signal) => probations.note({ ...standing, orderly: true }, signal),
    }),
  },
  {
    fault: "forgets why it was taking something back",
    caughtBy: "that it was about to be taken back is found, before it was and after",
    change: (probations) => ({
      note: ({ probation, orderly }, signal) => probations.note({ probation, orderly }, signal),
    }),
  },
  {
    fault: "remembers what was ended",
    caughtBy: "what was ended is found no more",
    change: () => ({ end: async () => {} }),
  },
  {
    fault: "ends what it has not begun",
    caughtBy: "what another has begun is told, and is not its own to end",
    change: (probations) => ({
      async end(signal) {
        await probations.find(signal);
        await probations.end(signal);
      },
    }),
  },
  {
    fault: "knows only what it has on probation itself",
    caughtBy: "what another has begun is told, and is not its own to end",
    change: () => ({ elsewhere: async () => undefined }),
  },
  {
    fault: "notes first and looks later",
    caughtBy: "nothing is begun over a version that moved, and nothing is left of it",
    change: (probations, store) => ({
      async begin(document, expected, probation, signal) {
        const stored = await store.load(signal);
        const written = await probations.begin(document, stored ?? expected, probation, signal);
        return stored?.revision === expected.revision ? written : undefined;
      },
    }),
  },
  {
    fault: "does not look whose document is stored",
    caughtBy:
      "another hand's document counts, whatever its version, and the next start is told what that has replaced, once",
    change: (probations, _, left) => ({
      async begin(document, expected, probation, signal) {
        const current = await probations.begin(document, expected, probation, signal);
        left.begun = { probation, former: expected, current, tried: current, orderly: false };
        return current;
      },
      find: async () => left.begun,
    }),
  },
];

/** Its calls as properties, so that some can take the place of others. */
function callable(probations: ConfigProbations): ConfigProbations {
  return {
    begin: (...request) => probations.begin(...request),
    find: (signal) => probations.find(signal),
    note: (standing, signal) => probations.note(standing, signal),
    end: (signal) => probations.end(signal),
    elsewhere: async (signal) => probations.elsewhere?.(signal),
  };
}

test.for(MUTANTS)("a store that $fault is caught", async ({ change, caughtBy }) => {
  const cases = configProbationCases({
    ...fileSubject,
    async open(document) {
      const left = {};
      const place = await fileSubject.open(document);
      const faulty = (store: ConfigStore): ConfigStore => {
        const { probations } = store;
        if (probations === undefined) throw new Error("a file has probations");
        return Object.defineProperty(store, "probations", {
          value: { ...callable(probations), ...change(probations, store, left) },
        });
      };
      const again = async (): Promise<ConfigStore> => faulty(await place.second());
      return { ...place, store: faulty(place.store), second: again, reopen: again };
    },
  });
  const run = cases.find(({ name }) => name === caughtBy)?.run;
  using bound = deadline(systemClock, 20_000, new Error("the case did not end"));
  await expect(run?.(bound.signal)).rejects.toBeInstanceOf(AssertionError);
});
