import { type ConfigStagingCaseName, configStagingCases } from "@bridge/conformance";
import { type ConfigStaging, type ConfigStore, systemClock } from "@bridge/ports";
import { deadline } from "@bridge/ports/internal";
import { expect, test } from "vitest";
import { memorySubject } from "./memory-subject.ts";

interface Mutant {
  /** What is wrong with the store: "a store that …". */
  readonly fault: string;
  readonly caughtBy: ConfigStagingCaseName;
  readonly change: (staging: ConfigStaging, store: ConfigStore) => Partial<ConfigStaging>;
}

const MUTANTS: readonly Mutant[] = [
  {
    fault: "stores what it stages",
    caughtBy: "what is staged is not loaded, and is in nobody's watch",
    change: (staging, store) => ({
      async stage(document, expected, request, signal) {
        await store.write(document, expected, signal);
        return staging.stage(document, expected, request, signal);
      },
    }),
  },
  {
    fault: "refuses what it has confirmed",
    caughtBy: "confirming twice is once",
    change: (staging) => ({
      confirm: async (staged, signal) => (await staging.look(signal)) !== undefined && staging.confirm(staged, signal),
    }),
  },
  {
    fault: "keeps what is discarded",
    caughtBy: "what is discarded leaves everything as it was, and cannot be confirmed",
    change: () => ({ discard: async () => true }),
  },
  {
    fault: "discards whatever is staged",
    caughtBy: "discarding does nothing to what is confirmed, or to another's try",
    change: (staging) => ({
      async discard(_, signal) {
        const staged = await staging.look(signal);
        return staged !== undefined && staging.discard(staged, signal);
      },
    }),
  },
  {
    fault: "tells everybody who discards that they did it",
    caughtBy: "of several who discard, and of one who confirms, one is told that it was them",
    change: (staging) => ({
      async discard(staged, signal) {
        await staging.discard(staged, signal);
        return true;
      },
    }),
  },
  {
    fault: "takes everything for left behind",
    caughtBy: "nothing is staged beside another's try",
    change: (staging) => ({
      stage: (document, expected, request, signal) =>
        staging.stage(document, expected, { ...request, leftBehindBefore: Infinity }, signal),
    }),
  },
  {
    fault: "never takes anything for left behind",
    caughtBy: "what was left behind is replaced, and cannot be confirmed any more",
    change: (staging) => ({
      stage: (document, expected, request, signal) =>
        staging.stage(document, expected, { ...request, leftBehindBefore: 0 }, signal),
    }),
  },
  {
    fault: "confirms whatever is staged",
    caughtBy: "of a confirmation and a replacement that race, one is done",
    change: (staging) => ({
      async confirm(_, signal) {
        await Promise.resolve();
        const staged = await staging.look(signal);
        return staged !== undefined && staging.confirm(staged, signal);
      },
    }),
  },
  {
    fault: "stages over everything",
    caughtBy: "nothing is staged over a version that moved",
    change: (staging, store) => ({
      async stage(document, expected, request, signal) {
        return staging.stage(document, (await store.load(signal)) ?? expected, request, signal);
      },
    }),
  },
  {
    fault: "does not say who staged",
    caughtBy: "tells every store who staged what, and when",
    change: (staging) => ({
      async look(signal) {
        const staged = await staging.look(signal);
        return staged && { ...staged, by: "somebody" };
      },
    }),
  },
  {
    fault: "forgets until when",
    caughtBy: "tells every store until when it is on probation",
    change: (staging) => ({
      async stage(document, expected, { by, at, leftBehindBefore }, signal) {
        return staging.stage(document, expected, { by, at, leftBehindBefore }, signal);
      },
    }),
  },
  {
    fault: "takes what is on probation for left behind once it is old",
    caughtBy: "what is on probation is left behind by its end, not by its beginning",
    change: (staging) => ({
      async stage(document, expected, request, signal) {
        const old = ((await staging.look(signal))?.at ?? Infinity) < request.leftBehindBefore;
        const leftBehindBefore = old ? Infinity : request.leftBehindBefore;
        return staging.stage(document, expected, { ...request, leftBehindBefore }, signal);
      },
    }),
  },
  {
    fault: "looks first and stages later",
    caughtBy: "of instances that stage at once, one does",
    change: (staging) => ({
      async stage(document, expected, request, signal) {
        const free = (await staging.look(signal)) === undefined;
        await new Promise((resolve) => setImmediate(resolve));
        return free ? staging.stage(document, expected, { ...request, leftBehindBefore: Infinity }, signal) : undefined;
      },
    }),
  },
];

test.for(MUTANTS)("a store that $fault is caught", async ({ change, caughtBy }) => {
  const faulty = (store: ConfigStore): ConfigStore => {
    const { staging } = store;
    if (staging === undefined) throw new Error("the model has staging");
    const seen = { get: () => staging.seen, enumerable: true };
    const faults = Object.defineProperty({ ...staging, ...change(staging, store) }, "seen", seen) as ConfigStaging;
    return Object.defineProperty(store, "staging", { value: faults });
  };
  const cases = configStagingCases({
    ...memorySubject,
    async open(document) {
      const place = await memorySubject.open(document);
      return { ...place, store: faulty(place.store), second: async () => faulty(await place.second()) };
    },
  });
  const run = cases.find(({ name }) => name === caughtBy)?.run;
  using bound = deadline(systemClock, 500, new Error("the case did not end"));
  await expect(run?.(bound.signal)).rejects.toBeInstanceOf(Error);
});
