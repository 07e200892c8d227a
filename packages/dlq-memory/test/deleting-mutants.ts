import { BridgeError, type DlqAdmin } from "@bridge/ports";
import { ALL, type Mutant, type Mutate } from "./mutant.ts";

const NEVER = new AbortController().signal;

/** Faults of deleting, of cancellation and of the end of a store. */
export const DELETING_MUTANTS: readonly Mutant[] = [
  {
    fault: "tells every racer that it deleted",
    caughtBy: "of callers that race, one is told that it deleted an entry",
    mutate: onAdmin((admin) => ({
      async delete(ids, signal) {
        await admin.delete(ids, signal);
        return new Set(ids);
      },
    })),
  },
  {
    fault: "looks first and deletes later",
    caughtBy: "of callers that race, one is told that it deleted an entry",
    mutate: (store) => ({
      admin: {
        ...store.admin,
        async delete(ids, signal) {
          const found = await Promise.all(ids.map((id) => store.get(id, signal)));
          await store.admin.delete(ids, signal);
          return new Set(found.flatMap((entry) => (entry === undefined ? [] : [entry.id])));
        },
      },
    }),
  },
  {
    fault: "never forgets a deleted id",
    caughtBy: "a deleted entry can be written again",
    mutate: (store) => {
      const gone = new Set<string>();
      return {
        async put(entry, signal) {
          if (!gone.has(entry.id)) await store.put(entry, signal);
        },
        admin: {
          ...store.admin,
          async delete(ids, signal) {
            for (const id of ids) gone.add(id);
            return store.admin.delete(ids, signal);
          },
        },
      };
    },
  },
  {
    fault: "deletes without a limit",
    caughtBy: "deletes the oldest up to the limit",
    mutate: onAdmin((admin) => ({
      deleteWhere: (filter, limit, signal) => admin.deleteWhere(filter, limit === 0 ? 0 : undefined, signal),
    })),
  },
  {
    fault: "takes a limit of 0 as none",
    caughtBy: "a limit of 0 deletes nothing",
    mutate: onAdmin((admin) => ({
      deleteWhere: (filter, limit, signal) => admin.deleteWhere(filter, limit === 0 ? undefined : limit, signal),
    })),
  },
  {
    fault: "deletes the newest up to the limit",
    caughtBy: "deletes the oldest up to the limit",
    mutate: (store) => ({
      admin: {
        ...store.admin,
        async deleteWhere(filter, limit, signal) {
          const heads = (await store.list(filter, ALL, signal)).toReversed().slice(0, limit);
          const ids = heads.map(({ id }) => id);
          return (await store.admin.delete(ids, signal)).size;
        },
      },
    }),
  },
  {
    fault: "deletes what failed at before",
    caughtBy: "deletes what failed before before",
    mutate: onAdmin((admin) => ({
      deleteWhere: ({ before, ...rest }, limit, signal) =>
        admin.deleteWhere(before === undefined ? rest : { ...rest, before: before + 1 }, limit, signal),
    })),
  },
  {
    fault: "deletes all when it is given no ids",
    caughtBy: "deletes nothing when given nothing",
    mutate: onAdmin((admin) => ({
      async delete(ids, signal) {
        if (ids.length === 0) await admin.deleteWhere({}, undefined, signal);
        return admin.delete(ids, signal);
      },
    })),
  },
  {
    fault: "deletes 999 ids at most",
    caughtBy: "deletes 1,000 entries at once",
    mutate: onAdmin((admin) => ({ delete: (ids, signal) => admin.delete(ids.slice(0, 999), signal) })),
  },
  {
    fault: "tells the ids that it was given",
    caughtBy: "deletes entries and tells which were there",
    mutate: onAdmin((admin) => ({
      async delete(ids, signal) {
        const gone = await admin.delete(ids, signal);
        return gone.size > 0 ? new Set(ids) : gone;
      },
    })),
  },
  {
    fault: "deletes without looking at the category",
    caughtBy: "deletes a category",
    mutate: onAdmin((admin) => ({
      deleteWhere: ({ category: _category, ...rest }, limit, signal) => admin.deleteWhere(rest, limit, signal),
    })),
  },
  {
    fault: "counts what it meant to delete",
    caughtBy: "of filters that race, each entry is counted once",
    mutate: (store) => ({
      admin: {
        ...store.admin,
        async deleteWhere(filter, limit, signal) {
          const heads = await store.list(filter, { limit: limit ?? Number.MAX_SAFE_INTEGER, offset: 0 }, signal);
          await store.admin.delete(
            heads.map(({ id }) => id),
            signal,
          );
          return heads.length;
        },
      },
    }),
  },
  {
    fault: "lists for an aborted caller",
    caughtBy: "an aborted list rejects with the signal's reason",
    mutate: (store) => ({ list: (filter, page) => store.list(filter, page, NEVER) }),
  },
  {
    fault: "deletes by filter before it looks at the signal",
    caughtBy: "an aborted deleteWhere rejects with the signal's reason and deletes nothing",
    mutate: onAdmin((admin) => ({
      async deleteWhere(filter, limit, signal) {
        const count = await admin.deleteWhere(filter, limit, NEVER);
        signal.throwIfAborted();
        return count;
      },
    })),
  },
  {
    fault: "ignores the signal",
    caughtBy: "an aborted put rejects with the signal's reason and writes nothing",
    mutate: (store) => ({ put: (entry) => store.put(entry, NEVER) }),
  },
  {
    fault: "rejects an aborted call with an error of its own",
    caughtBy: "an aborted get rejects with the signal's reason",
    mutate: (store) => ({
      async get(id, signal) {
        if (signal.aborted) throw new BridgeError("UNAVAILABLE", "aborted");
        return store.get(id, signal);
      },
    }),
  },
  {
    fault: "deletes before it looks at the signal",
    caughtBy: "an aborted delete rejects with the signal's reason and deletes nothing",
    mutate: onAdmin((admin) => ({
      async delete(ids, signal) {
        const gone = await admin.delete(ids, NEVER);
        signal.throwIfAborted();
        return gone;
      },
    })),
  },
  {
    fault: "leaves half an entry when a put is aborted on the way",
    caughtBy: "a put that is aborted on the way leaves the entry whole or not at all",
    mutate: (store) => ({
      async put(entry, signal) {
        signal.throwIfAborted();
        await Promise.resolve();
        const { payload } = entry.envelope;
        const written = signal.aborted ? payload.subarray(0, payload.length / 2) : payload;
        await store.put({ ...entry, envelope: { ...entry.envelope, payload: written } }, NEVER);
        signal.throwIfAborted();
      },
    }),
  },
  {
    fault: "keeps listening to the signal",
    caughtBy: "leaves no listener on the signal",
    mutate: (store) => ({
      async count(cap, signal) {
        signal.addEventListener("abort", () => {});
        return store.count(cap, signal);
      },
    }),
  },
  {
    fault: "cannot be disposed twice",
    caughtBy: "disposing twice is once",
    mutate: (store) => {
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

function onAdmin(change: (admin: DlqAdmin) => Partial<DlqAdmin>): Mutate {
  return (store) => ({ admin: { ...store.admin, ...change(store.admin) } });
}
