import type { DeadLetter, DeadLetterFilter, DeadLetterHead } from "@bridge/ports";
import { openMemoryDlq } from "../src/index.ts";
import { ALL, type Mutant, type Mutate } from "./mutant.ts";

/** Faults of writing, reading, listing and counting. */
export const READING_MUTANTS: readonly Mutant[] = [
  {
    fault: "forgets the last byte of a payload",
    caughtBy: "gives back every byte, 0x00 and 0xff first and last",
    mutate: onPut(({ payload }) => ({ payload: payload.subarray(0, -1) })),
  },
  {
    fault: "stores payloads as text",
    caughtBy: "gives back every byte, 0x00 and 0xff first and last",
    mutate: onPut(({ payload }) => ({ payload: new TextEncoder().encode(new TextDecoder().decode(payload)) })),
  },
  {
    fault: "stores the buffer that a payload is part of",
    caughtBy: "gives back a payload that was part of a larger buffer",
    mutate: onPut(({ payload }) => ({ payload: new Uint8Array(payload.buffer) })),
  },
  {
    fault: "cuts payloads off at 64 KB",
    caughtBy: "gives back a payload of 1 MB",
    mutate: onPut(({ payload }) => ({ payload: payload.subarray(0, 65_535) })),
  },
  {
    fault: "keeps a default where it was given nothing",
    caughtBy: "gives back what is empty",
    mutate: onPut(({ contentType }) => ({ contentType: contentType || "application/octet-stream" })),
  },
  {
    fault: "ends text at a NUL",
    caughtBy: "gives back text that needs quoting",
    mutate: onEntry((entry) => ({ ...entry, reason: entry.reason.split("\0")[0] ?? "" })),
  },
  {
    fault: "knows three categories",
    caughtBy: "gives back every category and code",
    mutate: onEntry((entry) => ({ ...entry, category: entry.category === "filtered" ? "rejected" : entry.category })),
  },
  {
    fault: "gives any entry for an id that is not there",
    caughtBy: "an id that is not there gives nothing",
    mutate: (store) => ({
      async get(id, signal) {
        const [oldest] = await store.list({}, { limit: 1, offset: 0 }, signal);
        return (await store.get(id, signal)) ?? (oldest && (await store.get(oldest.id, signal)));
      },
    }),
  },
  {
    fault: "keeps the bytes that it was given",
    caughtBy: "does not follow when the bytes it was given change",
    mutate(store) {
      const given = new Map<string, DeadLetter>();
      return {
        async put(entry, signal) {
          if (!given.has(entry.id)) given.set(entry.id, entry);
          await store.put(entry, signal);
        },
        get: async (id) => given.get(id),
      };
    },
  },
  {
    fault: "loses a write while another is on its way",
    caughtBy: "writes that overlap are all kept",
    mutate(store) {
      let busy = false;
      return {
        async put(entry, signal) {
          if (busy) return;
          busy = true;
          await store.put(entry, signal);
          busy = false;
        },
      };
    },
  },
  {
    fault: "forgets what was written when it ends abruptly",
    caughtBy: "what was written survives an abrupt end",
    reopen: async () => openMemoryDlq({ maxEntries: 100 }),
  },
  {
    fault: "forgets what was deleted when it ends abruptly",
    caughtBy: "what was deleted stays deleted after an abrupt end",
    ...writesOnly(),
  },
  {
    fault: "forgets the expiry",
    caughtBy: "gives back every field",
    mutate: onPut(() => ({ expiresAt: undefined })),
  },
  {
    fault: "drops headers without a value",
    caughtBy: "gives back headers with dots, Unicode, nothing and much in them",
    mutate: onPut(({ headers }) => ({
      headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== "")),
    })),
  },
  {
    fault: "splits header names at dots",
    caughtBy: "gives back headers with dots, Unicode, nothing and much in them",
    mutate: onPut(({ headers }) => ({
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.split(".")[0] ?? "", value])),
    })),
  },
  {
    fault: "copies headers by assignment",
    caughtBy: "gives back headers named as what every object has",
    mutate: onPut(({ headers }) => {
      const copy: Record<string, string> = {};
      for (const [name, value] of Object.entries(headers)) copy[name] = value;
      return { headers: copy };
    }),
  },
  {
    fault: "gives out its own bytes",
    caughtBy: "does not follow when the bytes it gave out change",
    mutate: (store) => {
      const given = new Map<string, DeadLetter | undefined>();
      return {
        async get(id, signal) {
          if (!given.has(id)) given.set(id, await store.get(id, signal));
          return given.get(id);
        },
      };
    },
  },
  {
    fault: "overwrites an id that is there",
    caughtBy: "writing an id twice keeps the first",
    mutate: (store) => ({
      async put(entry, signal) {
        await store.admin.delete([entry.id], signal);
        await store.put(entry, signal);
      },
    }),
  },
  {
    fault: "keeps heads and envelopes apart",
    caughtBy: "of writes of one id that race, one is kept whole",
    mutate: (store) => {
      const heads = new Map<string, DeadLetter>();
      return {
        async put(entry, signal) {
          heads.set(entry.id, entry);
          await store.put(entry, signal);
        },
        async get(id, signal) {
          const entry = await store.get(id, signal);
          return entry && { ...entry, ...heads.get(id), envelope: entry.envelope };
        },
      };
    },
  },
  {
    fault: "lists newest first",
    caughtBy: "lists oldest first, by the time of failure and then by id",
    mutate: onList((heads) => heads.toReversed()),
  },
  {
    fault: "does not order entries of one time",
    caughtBy: "lists oldest first, by the time of failure and then by id",
    mutate: onList((heads) => heads.toReversed().toSorted((a, b) => a.failedAt - b.failedAt)),
  },
  {
    fault: "orders by id alone",
    caughtBy: "lists oldest first, by the time of failure and then by id",
    mutate: onList((heads) => heads.toSorted((a, b) => (a.id < b.id ? -1 : 1))),
  },
  {
    fault: "lists the envelope too",
    caughtBy: "lists everything of an entry but its envelope",
    mutate: (store) => ({
      async list(filter, page, signal) {
        const heads = await store.list(filter, page, signal);
        return Promise.all(heads.map(async ({ id }) => (await store.get(id, signal)) as unknown as DeadLetterHead));
      },
    }),
  },
  {
    fault: "takes since as exclusive",
    caughtBy: "lists what failed at or after since",
    mutate: onFilter((filter) => (filter.since === undefined ? filter : { ...filter, since: filter.since + 1 })),
  },
  {
    fault: "takes before as inclusive",
    caughtBy: "lists what failed before before",
    mutate: onFilter((filter) => (filter.before === undefined ? filter : { ...filter, before: filter.before + 1 })),
  },
  {
    fault: "looks at one filter only",
    caughtBy: "lists what all filters match",
    mutate: onFilter(({ category, ...rest }) => (rest.routeId === undefined ? { category, ...rest } : rest)),
  },
  {
    fault: "compares with a filter that is undefined",
    caughtBy: "a filter that is undefined matches all",
    mutate: onFilter((filter) => ("routeId" in filter && filter.routeId === undefined ? { routeId: "" } : filter)),
  },
  {
    fault: "ignores the offset",
    caughtBy: "pages without gap or repetition",
    mutate: (store) => ({
      list: async (filter, { limit, offset }, signal) =>
        offset >= 60 ? [] : store.list(filter, { limit, offset: 0 }, signal),
    }),
  },
  {
    fault: "gives at most 1,000 entries",
    caughtBy: "gives 1,001 entries in one page",
    mutate: (store) => ({
      list: (filter, { limit, offset }, signal) =>
        store.list(filter, { limit: Math.min(limit, 1_000), offset }, signal),
    }),
  },
  {
    fault: "counts beyond the cap",
    caughtBy: "counting stops at the cap",
    mutate: (store) => ({ count: (_cap, signal) => store.count(Infinity, signal) }),
  },
];

/** A log of writes, out of which a store is made anew after an abrupt end. */
function writesOnly(): Pick<Mutant, "mutate" | "reopen"> {
  const written: DeadLetter[] = [];
  return {
    mutate: (store) => ({
      async put(entry, signal) {
        written.push(entry);
        await store.put(entry, signal);
      },
    }),
    async reopen() {
      const store = openMemoryDlq({ maxEntries: 100 });
      await Promise.all(written.map((entry) => store.put(entry, new AbortController().signal)));
      return store;
    },
  };
}

function onEntry(change: (entry: DeadLetter) => DeadLetter): Mutate {
  return (store) => ({ put: (entry, signal) => store.put(change(entry), signal) });
}

function onPut(change: (envelope: DeadLetter["envelope"]) => object): Mutate {
  return (store) => ({
    put: (entry, signal) => store.put({ ...entry, envelope: { ...entry.envelope, ...change(entry.envelope) } }, signal),
  });
}

function onList(change: (heads: readonly DeadLetterHead[]) => readonly DeadLetterHead[]): Mutate {
  return (store) => ({
    async list(filter, { limit, offset }, signal) {
      return change(await store.list(filter, ALL, signal)).slice(offset, offset + limit);
    },
  });
}

function onFilter(change: (filter: DeadLetterFilter) => DeadLetterFilter): Mutate {
  return (store) => ({ list: (filter, page, signal) => store.list(change(filter), page, signal) });
}
