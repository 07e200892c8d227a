import type { BlockedKey, OutboxBacklog, OutboxFilter, OutboxHead } from "@bridge/ports";
import { ALL, type Mutant, type Mutate, NEVER } from "./mutant.ts";

/** Faults of what is shown of records. */
export const VIEWING_MUTANTS: readonly Mutant[] = [
  {
    fault: "lists payloads",
    caughtBy: "lists everything of a new record but its envelope",
    mutate: onList((heads) => heads.map((head) => ({ ...head, payload: Uint8Array.of(1) }))),
  },
  {
    fault: "lists newest first",
    caughtBy: "lists oldest first",
    mutate: onList((heads) => heads.toReversed()),
  },
  {
    fault: "lists in the order of ids",
    caughtBy: "lists oldest first",
    mutate: onList((heads) => heads.toSorted((a, b) => (a.id < b.id ? -1 : 1))),
  },
  {
    fault: "lists by when records are due",
    caughtBy: "a record keeps its place through loans and retries",
    mutate: onList((heads) => heads.toSorted((a, b) => a.dueAt - b.dueAt)),
  },
  {
    fault: "does not list what is lent",
    caughtBy: "lists what is lent, what waits for a retry, and nothing that is finished",
    mutate: onList((heads) => heads.filter(({ lent }) => !lent)),
  },
  {
    fault: "does not see that loans lapse",
    caughtBy: "a record whose loan has lapsed is not listed as lent",
    mutate(store) {
      const lent = new Set<string>();
      return {
        async claimOne(id, loanMs, signal) {
          lent.add(id);
          return store.claimOne(id, loanMs, signal);
        },
        async list(filter, page, signal) {
          return (await store.list(filter, page, signal)).map((head) => ({ ...head, lent: lent.has(head.id) }));
        },
      };
    },
  },
  {
    fault: "looks at the route or at the binding",
    caughtBy: "lists a binding of one route",
    mutate: onFilter(({ routeId, ...rest }) => (rest.bindingId === undefined ? { routeId } : rest)),
  },
  {
    fault: "compares with a filter that is undefined",
    caughtBy: "a filter that is undefined matches all",
    mutate: onFilter((filter) => ("routeId" in filter && filter.routeId === undefined ? { routeId: "" } : filter)),
  },
  {
    fault: "takes an empty binding for none",
    caughtBy: "lists nothing of an unknown route or binding",
    mutate: onFilter(({ routeId, bindingId }) => ({ routeId, bindingId: bindingId || undefined })),
  },
  {
    fault: "ignores the offset",
    caughtBy: "an offset beyond the end gives nothing, 100,000 too",
    mutate: (store) => ({ list: (filter, { limit }, signal) => store.list(filter, { limit, offset: 0 }, signal) }),
  },
  {
    fault: "counts finished records when it pages",
    caughtBy: "pages without gap or repetition, past what is finished",
    mutate(store) {
      let finished = 0;
      return {
        async finish(ends, signal) {
          finished += ends.length;
          return store.finish(ends, signal);
        },
        list: (filter, { limit, offset }, signal) =>
          store.list(filter, { limit, offset: offset === 0 ? 0 : Math.max(0, offset - finished) }, signal),
      };
    },
  },
  {
    fault: "pages before it filters",
    caughtBy: "pages through a filter",
    mutate: (store) => ({
      async list({ routeId, bindingId }, page, signal) {
        const heads = await store.list({}, page, signal);
        return heads
          .filter((head) => routeId === undefined || head.routeId === routeId)
          .filter((head) => bindingId === undefined || head.bindingId === bindingId);
      },
    }),
  },
  {
    fault: "takes a page without room as one without an end",
    caughtBy: "a page without room is empty",
    mutate: (store) => ({
      list: (filter, { limit, offset }, signal) => store.list(filter, { limit: limit || Infinity, offset }, signal),
    }),
  },
  {
    fault: "counts the backlog of a route as one",
    caughtBy: "the backlog has a line for each binding with unfinished records",
    mutate: onBacklog((lines) =>
      lines.filter((line, i) => lines.findIndex((other) => other.routeId === line.routeId) === i),
    ),
  },
  {
    fault: "does not count what is lent",
    caughtBy: "the depth counts what is lent or waits, and nothing that is finished",
    mutate: (store) => ({
      async backlog(signal) {
        const lent = (await store.list({}, ALL, signal)).filter((head) => head.lent).length;
        return (await store.backlog(signal)).map((line) => ({ ...line, depth: line.depth - lent }));
      },
    }),
  },
  {
    fault: "keeps the line of a binding that has nothing left",
    caughtBy: "a binding whose records are all finished has no line",
    mutate(store) {
      const known = new Map<string, OutboxBacklog>();
      return {
        async persist(records, signal) {
          const results = await store.persist(records, signal);
          for (const line of await store.backlog(signal)) known.set(line.bindingId, { ...line, depth: 0 });
          return results;
        },
        async backlog(signal) {
          const lines = await store.backlog(signal);
          return [...known.values()].map((line) => lines.find(({ bindingId }) => bindingId === line.bindingId) ?? line);
        },
      };
    },
  },
  {
    fault: "counts every record that waits as a blocked key",
    caughtBy: "counts the keys whose head waits for a retry",
    mutate: (store, { clock }) => ({
      async backlog(signal) {
        const blockedKeys = (await store.list({}, ALL, signal)).filter(({ dueAt }) => dueAt > clock.now()).length;
        return (await store.backlog(signal)).map((line) => ({ ...line, blockedKeys }));
      },
    }),
  },
  {
    fault: "counts keys as blocked whose head is due again",
    caughtBy: "a key whose head is due again is not blocked",
    mutate: (store) => ({
      async backlog(signal) {
        const blockedKeys = (await store.list({}, ALL, signal)).filter(({ attempts }) => attempts > 0).length;
        return (await store.backlog(signal)).map((line) => ({ ...line, blockedKeys }));
      },
    }),
  },
  {
    fault: "tells of a blocked key its youngest record",
    caughtBy: "tells of a blocked key its oldest record, how often that was tried, when it is again, and how many wait",
    mutate: onBlockedKeys((keys) => keys.map((key) => ({ ...key, oldestId: "r0002" }))),
  },
  {
    fault: "counts only the oldest record of a blocked key",
    caughtBy: "tells of a blocked key its oldest record, how often that was tried, when it is again, and how many wait",
    mutate: onBlockedKeys((keys) => keys.map((key) => ({ ...key, depth: 1 }))),
  },
  {
    fault: "takes every key for blocked of which a record waits",
    caughtBy: "of the keys of one binding only those whose oldest record waits are blocked",
    mutate: (store, { clock }) => ({
      async blockedKeys(filter, limit, signal) {
        const waiting = (await store.list(filter, ALL, signal)).filter(({ dueAt }) => dueAt > clock.now());
        return waiting.slice(0, limit).map(blockedBy);
      },
    }),
  },
  {
    fault: "takes a key for blocked whose oldest record is lent",
    caughtBy: "a key whose oldest record is lent, or due again, is not told as blocked",
    mutate: (store) => ({
      async blockedKeys(filter, limit, signal) {
        const tried = (await store.list(filter, ALL, signal)).filter(({ lent }) => lent);
        return tried.slice(0, limit).map(blockedBy);
      },
    }),
  },
  {
    fault: "tells blocked keys of all bindings",
    caughtBy: "tells blocked keys of a route and of a binding, up to a limit, oldest first",
    mutate: (store) => ({
      blockedKeys: async (_, limit, signal) => (await store.blockedKeys?.({}, limit, signal)) ?? [],
    }),
  },
  {
    fault: "tells more blocked keys than it is asked for",
    caughtBy: "tells blocked keys of a route and of a binding, up to a limit, oldest first",
    mutate: (store) => ({
      blockedKeys: async (filter, _, signal) => (await store.blockedKeys?.(filter, 100, signal)) ?? [],
    }),
  },
  {
    fault: "forgets what redrives an entry while it is lent",
    caughtBy: "finds the pending record that redrives an entry",
    mutate: (store) => ({
      async redriving(entryId, signal) {
        const id = await store.redriving(entryId, signal);
        return (await store.list({}, ALL, signal)).find((head) => head.id === id && !head.lent)?.id;
      },
    }),
  },
  {
    fault: "thinks of a finished record that it redrives",
    caughtBy: "a finished record redrives nothing, and another may",
    mutate(store) {
      const redriving = new Map<string | undefined, string>();
      return {
        async persist(records, signal) {
          for (const { id, entryId } of records) redriving.set(entryId, id);
          return store.persist(records, signal);
        },
        redriving: async (entryId) => redriving.get(entryId),
      };
    },
  },
];

function onList(change: (heads: readonly OutboxHead[]) => readonly OutboxHead[]): Mutate {
  return (store) => ({
    async list(filter, { limit, offset }, signal) {
      return change(await store.list(filter, ALL, signal)).slice(offset, offset + limit);
    },
  });
}

function onFilter(change: (filter: OutboxFilter) => OutboxFilter): Mutate {
  return (store) => ({ list: (filter, page, signal) => store.list(change(filter), page, signal) });
}

function onBlockedKeys(change: (keys: readonly BlockedKey[]) => readonly BlockedKey[]): Mutate {
  return (store) => ({
    blockedKeys: async (filter, limit, signal) => change((await store.blockedKeys?.(filter, limit, signal)) ?? []),
  });
}

function blockedBy({ routeId, bindingId, orderingKey = "", id, attempts, dueAt, createdAt }: OutboxHead): BlockedKey {
  return { routeId, bindingId, orderingKey, depth: 1, oldestId: id, attempts, dueAt, oldestCreatedAt: createdAt };
}

function onBacklog(change: (lines: readonly OutboxBacklog[]) => readonly OutboxBacklog[]): Mutate {
  return (store) => ({ backlog: async () => change(await store.backlog(NEVER)) });
}
