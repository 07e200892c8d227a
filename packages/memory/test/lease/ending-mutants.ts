import { setImmediate as turn } from "node:timers/promises";
import { BridgeError } from "@bridge/ports";
import { judging, type Mutant, NEVER } from "./mutant.ts";

/** Faults of deciding races, and of ends. */
export const ENDING_MUTANTS: readonly Mutant[] = [
  ...[
    "of 20 that take a lease which nobody has taken, one gets it" as const,
    "of 20 that replace one record, one does" as const,
    "a renewal and a takeover that race: one is made" as const,
    "of replacements that are tried until they are made, none is lost" as const,
  ].map((caughtBy): Mutant => ({
    fault: "looks, and writes a turn later",
    caughtBy,
    mutate: (store) => ({
      async replace(key, expected, next, signal) {
        const there = await store.read(key, signal);
        if (there?.token !== expected?.token || there?.beat !== expected?.beat) return false;
        await turn();
        return store.replace(key, await store.read(key, signal), next, signal);
      },
    }),
  })),
  {
    fault: "serves one caller at a time and refuses the others",
    caughtBy: "races under different keys do not touch each other",
    mutate(store) {
      let busy = false;
      return {
        async replace(key, expected, next, signal) {
          if (busy) return false;
          busy = true;
          await turn();
          busy = false;
          return store.replace(key, expected, next, signal);
        },
      };
    },
  },
  {
    fault: "reads without regard to the signal",
    caughtBy: "an aborted read rejects with the signal's reason",
    mutate: (store) => ({ read: (key) => store.read(key, NEVER) }),
  },
  {
    fault: "writes without regard to the signal",
    caughtBy: "an aborted replacement rejects with the signal's reason and writes nothing",
    mutate: (store) => ({ replace: (key, expected, next) => store.replace(key, expected, next, NEVER) }),
  },
  {
    fault: "rejects an aborted replacement and writes it",
    caughtBy: "an aborted replacement rejects with the signal's reason and writes nothing",
    mutate: (store) => ({
      async replace(key, expected, next, signal) {
        const made = await store.replace(key, expected, next, NEVER);
        signal.throwIfAborted();
        return made;
      },
    }),
  },
  {
    fault: "rejects with an error of its own when it is aborted",
    caughtBy: "an aborted read rejects with the signal's reason",
    mutate: (store) => ({
      read: async (key, signal) => {
        if (signal.aborted) throw new BridgeError("TIMEOUT", "aborted");
        return store.read(key, signal);
      },
    }),
  },
  {
    fault: "writes field by field",
    caughtBy: "a replacement that is aborted on the way is made as a whole or not at all",
    mutate: (store) => ({
      async replace(key, expected, next, signal) {
        const part = { ...next, holder: expected?.holder ?? "" };
        if (!(await store.replace(key, expected, part, signal))) return false;
        return store.replace(key, part, next, signal);
      },
    }),
  },
  {
    fault: "leaves a listener on the signal",
    caughtBy: "leaves no listener on the signal",
    mutate: (store) => ({
      read(key, signal) {
        signal.addEventListener("abort", () => {});
        return store.read(key, signal);
      },
    }),
  },
  {
    fault: "forgets the last replacement at an abrupt end",
    caughtBy: "what was replaced survives an abrupt end",
    reopened: () => ({ read: async () => ({ holder: "plant-7-a/5f1d", token: 1, beat: 1, ttlMs: 20_000 }) }),
  },
  {
    fault: "forgets at an abrupt end that there was a lease",
    caughtBy: "what was stale before an abrupt end is refused after it",
    reopened: judging((there, expected) => there === undefined || there.token === expected?.token),
  },
  {
    fault: "cannot be disposed twice",
    caughtBy: "disposing twice is once",
    mutate(store) {
      let disposed = false;
      return {
        async [Symbol.asyncDispose]() {
          if (disposed) throw new Error("disposed already");
          disposed = true;
          await store[Symbol.asyncDispose]();
        },
      };
    },
  },
  {
    fault: "works on when it is disposed",
    caughtBy: "a disposed store refuses work with a BridgeError",
    mutate: () => ({ async [Symbol.asyncDispose]() {} }),
  },
  {
    fault: "says in its own words that it is disposed",
    caughtBy: "a disposed store refuses work with a BridgeError",
    mutate(store) {
      const translate = (error: unknown): never => {
        throw BridgeError.is(error) ? new Error(error.message) : error;
      };
      return {
        read: (key, signal) => store.read(key, signal).catch(translate),
        replace: (key, expected, next, signal) => store.replace(key, expected, next, signal).catch(translate),
      };
    },
  },
];
