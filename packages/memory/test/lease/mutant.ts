import type { LeaseStoreCaseName } from "@bridge/conformance";
import type { LeaseRecord, LeaseStore } from "@bridge/ports";

/** A memory lease store with a fault in it, which the suite must find. */
export interface Mutant {
  /** What is wrong with the store: "a lease store that …". */
  readonly fault: string;
  readonly caughtBy: LeaseStoreCaseName;
  /** The methods that differ from those of the sound `store`. */
  readonly mutate?: (store: LeaseStore) => Partial<LeaseStore>;
  /** What another instance has differently. */
  readonly mutateSecond?: (store: LeaseStore) => Partial<LeaseStore>;
  /** What is left after an abrupt end. Default: everything. */
  readonly reopened?: (store: LeaseStore) => Partial<LeaseStore>;
}

export type Mutate = NonNullable<Mutant["mutate"]>;
type Judge = (there: LeaseRecord | undefined, expected: LeaseRecord | undefined) => boolean;

/** Of nobody who gives up. */
export const NEVER = new AbortController().signal;

/** A store that decides in its own way whether to replace, in one turn. */
export function judging(judge: Judge): Mutate {
  const own = new Map<string, LeaseRecord>();
  return (store) => ({
    async read(key, signal) {
      await store.read(key, signal);
      return own.get(key);
    },
    async replace(key, expected, next, signal) {
      await store.read(key, signal);
      if (!judge(own.get(key), expected)) return false;
      own.set(key, { ...next });
      return true;
    },
  });
}

export function storing(change: (record: LeaseRecord) => LeaseRecord): Mutate {
  return (store) => ({
    replace: (key, expected, next, signal) => store.replace(key, expected, change(next), signal),
  });
}

export function naming(rename: (key: string) => string): Mutate {
  return (store) => ({
    read: (key, signal) => store.read(rename(key), signal),
    replace: (key, expected, next, signal) => store.replace(rename(key), expected, next, signal),
  });
}

/** Answers from what it has read before, and looks again at every third call. */
export const CACHING: Mutate = (store) => {
  const seen = new Map<string, LeaseRecord | undefined>();
  let calls = 0;
  return {
    async read(key, signal) {
      if (calls++ % 3 === 0 || !seen.has(key)) seen.set(key, await store.read(key, signal));
      return seen.get(key);
    },
  };
};
