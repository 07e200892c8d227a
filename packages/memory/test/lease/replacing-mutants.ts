import type { LeaseRecord } from "@bridge/ports";
import { CACHING, judging, type Mutant, naming, storing } from "./mutant.ts";

/** Faults of keeping records and of deciding what is replaced. */
export const REPLACING_MUTANTS: readonly Mutant[] = [
  {
    fault: "makes up a lease that is free",
    caughtBy: "a lease that nobody has taken is absent",
    mutate: (store) => ({
      read: async (key, signal) => (await store.read(key, signal)) ?? { holder: "", token: 0, beat: 0, ttlMs: 1 },
    }),
  },
  {
    fault: "keeps a ttl in seconds",
    caughtBy: "gives back every field",
    mutate: storing((record) => ({ ...record, ttlMs: Math.ceil(record.ttlMs / 1_000) * 1_000 })),
  },
  {
    fault: "gives out more than there is in a record",
    caughtBy: "gives back every field",
    mutate: storing((record) => ({ ...record, key: "plant-7/broker" })),
  },
  {
    fault: "keeps numbers in 32 bits",
    caughtBy: "gives back the least and the greatest numbers",
    mutate: storing((record) => ({ ...record, token: record.token | 0, beat: record.beat | 0 })),
  },
  {
    fault: "takes a token of 0 for none",
    caughtBy: "gives back the least and the greatest numbers",
    mutate: storing((record) => ({ ...record, token: record.token || 1 })),
  },
  {
    fault: "takes an empty holder for no lease",
    caughtBy: "gives back a holder that is empty: the lease was released",
    mutate: (store) => ({
      async read(key, signal) {
        const record = await store.read(key, signal);
        return record?.holder === "" ? undefined : record;
      },
    }),
  },
  {
    fault: "trims holders",
    caughtBy: "gives back holders of any characters",
    mutate: storing((record) => ({ ...record, holder: record.holder.trim() })),
  },
  {
    fault: "reads what was there a little before",
    caughtBy: "reads what it has just written, each time",
    mutate: CACHING,
  },
  {
    fault: "reads what another instance wrote a little before",
    caughtBy: "another instance reads what was just written, each time",
    mutateSecond: CACHING,
  },
  {
    fault: "has one lease",
    caughtBy: "leases under different keys are different leases",
    mutate: naming(() => "key"),
  },
  ...[
    { fault: "lowers the case of keys", rename: (key: string) => key.toLowerCase() },
    { fault: "trims keys", rename: (key: string) => key.trim() },
    { fault: "normalises keys", rename: (key: string) => key.normalize("NFC") },
    { fault: "replaces odd characters of keys", rename: (key: string) => key.replaceAll(/[^\w/]/g, "_") },
    { fault: "looks at 64 characters of a key", rename: (key: string) => key.slice(0, 64) },
    { fault: "drops the last character of long keys", rename: (key: string) => key.slice(0, 128) },
  ].map(({ fault, rename }): Mutant => ({
    fault,
    caughtBy: "keys of odd characters and lengths are told apart",
    mutate: naming(rename),
  })),
  {
    fault: "keeps the record that it was given",
    caughtBy: "does not follow when the record that it was given changes, nor the one that it gave out",
    mutate(store) {
      const given = new Map<string, LeaseRecord>();
      return {
        async read(key, signal) {
          await store.read(key, signal);
          return given.get(key);
        },
        async replace(key, expected, next, signal) {
          const made = await store.replace(key, expected, next, signal);
          if (made) given.set(key, next);
          return made;
        },
      };
    },
  },
  {
    fault: "replaces nothing that is there",
    caughtBy: "replaces the record that was expected",
    mutate: judging((there) => there === undefined),
  },
  {
    fault: "compares holders",
    caughtBy: "token and beat decide, not holder and ttl",
    mutate: judging(
      (there, expected) =>
        there?.token === expected?.token && there?.beat === expected?.beat && there?.holder === expected?.holder,
    ),
  },
  {
    fault: "writes whatever is there when nothing is expected",
    caughtBy: "what was expected to be absent and is there is refused",
    mutate: judging(
      (there, expected) => expected === undefined || (there?.token === expected.token && there.beat === expected.beat),
    ),
  },
  {
    fault: "takes what was released for absent",
    caughtBy: "what was expected to be absent and was released is refused",
    mutate: judging((there, expected) =>
      expected === undefined
        ? there === undefined || there.holder === ""
        : there?.token === expected.token && there.beat === expected.beat,
    ),
  },
  {
    fault: "writes when nothing is there, whatever was expected",
    caughtBy: "what was expected to be there and is absent is refused",
    mutate: judging(
      (there, expected) => there === undefined || (there.token === expected?.token && there.beat === expected.beat),
    ),
  },
  {
    fault: "compares tokens alone",
    caughtBy: "an older beat is refused",
    mutate: judging((there, expected) => there?.token === expected?.token),
  },
  {
    fault: "compares beats alone",
    caughtBy: "an older token is refused, with the same beat",
    mutate: judging((there, expected) => there?.beat === expected?.beat),
  },
  {
    fault: "refuses only what is older",
    caughtBy: "a token or beat that was never there is refused",
    mutate: judging((there, expected) =>
      there === undefined
        ? expected === undefined
        : expected !== undefined && expected.token >= there.token && expected.beat >= there.beat,
    ),
  },
  {
    fault: "writes and says that it did not",
    caughtBy: "a token or beat that was never there is refused",
    mutate: (store) => ({
      async replace(key, expected, next, signal) {
        const made = await store.replace(key, expected, next, signal);
        if (!made) await store.replace(key, await store.read(key, signal), next, signal);
        return made;
      },
    }),
  },
  {
    fault: "says that what stands there already was made",
    caughtBy: "a replacement that was made is refused when it is repeated",
    mutate: (store) => ({
      async replace(key, expected, next, signal) {
        const there = await store.read(key, signal);
        if (there?.token === next.token && there.beat === next.beat && there.holder === next.holder) return true;
        return store.replace(key, expected, next, signal);
      },
    }),
  },
  {
    fault: "lets tokens only grow",
    caughtBy: "numbers may go back: what they mean is not the store's business",
    mutate: (store) => ({
      replace: async (key, expected, next, signal) =>
        (expected?.token ?? 0) <= next.token && store.replace(key, expected, next, signal),
    }),
  },
];
