import { setImmediate as turn } from "node:timers/promises";
import { BridgeError, type OutboxClaim, type OutboxRecord, type OutboxStore } from "@bridge/ports";
import { openMemoryOutbox } from "../../src/outbox/open-memory-outbox.ts";
import { ALL, type Mutant, NEVER, onClaim } from "./mutant.ts";

/** Faults of abrupt ends, of cancellation and of the end of a store. */
export const SURVIVING_MUTANTS: readonly Mutant[] = [
  {
    fault: "forgets everything when it ends abruptly",
    caughtBy: "what was persisted survives an abrupt end",
    reopen: async (_store, options) => openMemoryOutbox(options),
  },
  {
    fault: "loses what was received when it ends abruptly",
    caughtBy: "what was persisted survives an abrupt end",
    ...replaying((written) => written.map(({ received: _received, ...record }) => record)),
  },
  {
    fault: "writes the records of a call one after another",
    caughtBy: "an abrupt end leaves all records of a call or none",
    ...endingBetween(),
  },
  {
    fault: "says that a record is persisted before it is written",
    caughtBy: "an abrupt end leaves all records of a call or none",
    ...writingLater(),
  },
  {
    fault: "loses the order when it ends abruptly",
    caughtBy: "the order survives an abrupt end, and what comes later is younger",
    ...replaying((written) => written.toReversed()),
  },
  {
    fault: "forgets how loans ended when it ends abruptly",
    caughtBy: "how loans ended survives an abrupt end",
    ...replaying((written) => written),
  },
  {
    fault: "forgets evidence when it ends abruptly",
    caughtBy: "evidence against duplicates survives an abrupt end",
    ...replaying((written, unfinished) => written.filter(({ id }) => unfinished.has(id))),
  },
  {
    fault: "forgets who waits when it ends abruptly",
    caughtBy: "no key is overtaken because of an abrupt end",
    ...replaying((written) => written),
  },
  {
    fault: "forgets what redrives an entry when it ends abruptly",
    caughtBy: "what redrives an entry survives an abrupt end",
    ...replaying((written) => written.map(({ entryId: _entryId, ...record }) => record)),
  },
  {
    fault: "begins to count its tokens anew when it ends abruptly",
    caughtBy: "what was lent at an abrupt end is lent again, uncharged",
    ...countingTokens(),
  },
  {
    fault: "persists for an aborted caller",
    caughtBy: "an aborted persist rejects with the signal's reason",
    mutate: (store) => ({ persist: (records) => store.persist(records, NEVER) }),
  },
  {
    fault: "rejects an aborted call with an error of its own",
    caughtBy: "an aborted status rejects with the signal's reason",
    mutate: (store) => ({
      async status(id, signal) {
        if (signal.aborted) throw new BridgeError("UNAVAILABLE", "aborted");
        return store.status(id, signal);
      },
    }),
  },
  {
    fault: "thinks that it has written what was aborted on the way",
    caughtBy: "a persist that is aborted on the way can be repeated",
    mutate(store) {
      const aborted = new Set<string>();
      return {
        async persist(records, signal) {
          await turn();
          if (signal.aborted) for (const { id } of records) aborted.add(id);
          signal.throwIfAborted();
          const results = await store.persist(
            records.filter(({ id }) => !aborted.has(id)),
            signal,
          );
          return records.map(({ id }, i) => results[i] ?? { kind: "duplicate", id, status: "pending" });
        },
      };
    },
  },
  {
    fault: "lends for ever to those who have given up",
    caughtBy: "a claim that is aborted on the way loses no record",
    mutate: (store) => ({
      async claim(request, signal) {
        await turn();
        const claims = await store.claim({ ...request, ...(signal.aborted && { loanMs: Infinity }) }, NEVER);
        signal.throwIfAborted();
        return claims;
      },
    }),
  },
  {
    fault: "takes a loan for ended whose end was aborted",
    caughtBy: "a finish that is aborted on the way can be repeated",
    mutate(store) {
      const aborted = new Set<string>();
      return {
        async finish(ends, signal) {
          await turn();
          if (signal.aborted) for (const { token } of ends) aborted.add(token);
          signal.throwIfAborted();
          const left = ends.filter(({ token }) => !aborted.has(token));
          const results = await store.finish(left, signal);
          return ends.map((end) => results[left.indexOf(end)] ?? false);
        },
      };
    },
  },
  {
    fault: "keeps listening to the signal",
    caughtBy: "leaves no listener on the signal",
    mutate: (store) => ({
      async backlog(signal) {
        signal.addEventListener("abort", () => {});
        return store.backlog(signal);
      },
    }),
  },
  {
    fault: "cannot be disposed twice",
    caughtBy: "disposing twice is once",
    mutate(store) {
      let disposed = false;
      return {
        async [Symbol.asyncDispose]() {
          if (disposed) throw new Error("disposed twice");
          disposed = true;
          await store[Symbol.asyncDispose]();
        },
      };
    },
  },
  {
    fault: "goes on when it is disposed",
    caughtBy: "a disposed store refuses work with a BridgeError",
    mutate: () => ({ async [Symbol.asyncDispose]() {} }),
  },
];

/** A log of what was persisted, out of which a store is made anew after an abrupt end. */
function replaying(
  change: (written: readonly OutboxRecord[], unfinished: ReadonlySet<string>) => readonly OutboxRecord[],
): Pick<Mutant, "mutate" | "reopen"> {
  const written: OutboxRecord[] = [];
  return {
    mutate: (store) => ({
      async persist(records, signal) {
        written.push(...records);
        return store.persist(records, signal);
      },
    }),
    async reopen(store, options) {
      const heads = await store.list({}, ALL, NEVER);
      const reopened = openMemoryOutbox(options);
      await reopened.persist(change(written, new Set(heads.map(({ id }) => id))), NEVER);
      return reopened;
    },
  };
}

function endingBetween(): Pick<Mutant, "mutate" | "reopen"> {
  let ended = false;
  return {
    mutate: (store) => ({
      async persist(records, signal) {
        const results = [];
        for (const record of records) {
          if (ended) throw new BridgeError("UNAVAILABLE", "the store has ended");
          results.push(...(await store.persist([record], signal)));
          await turn();
        }
        return results;
      },
    }),
    async reopen(store) {
      ended = true;
      return store;
    },
  };
}

function writingLater(): Pick<Mutant, "mutate" | "reopen"> {
  let ended = false;
  return {
    mutate(store) {
      const write = async (records: readonly OutboxRecord[]): Promise<void> => {
        await turn();
        await turn();
        if (!ended) await store.persist(records, NEVER);
      };
      return {
        async persist(records) {
          void write(records);
          return records.map(() => ({ kind: "persisted" }));
        },
      };
    },
    async reopen(store: OutboxStore) {
      ended = true;
      return store;
    },
  };
}

function countingTokens(): Pick<Mutant, "mutate" | "reopen"> {
  let count = 0;
  const inner = new Map<string, string>();
  const counted = (claim: OutboxClaim): OutboxClaim => {
    const token = `${count++}`;
    inner.set(token, claim.token);
    return { ...claim, token };
  };
  return {
    mutate: (store, options) => ({
      ...onClaim(counted)(store, options),
      finish: (ends, signal) =>
        store.finish(
          ends.map((end) => ({ ...end, token: inner.get(end.token) ?? "" })),
          signal,
        ),
    }),
    async reopen(store) {
      count = 0;
      return store;
    },
  };
}
