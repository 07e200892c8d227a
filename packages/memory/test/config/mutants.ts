import type { ConfigPlace, ConfigStoreCaseName, ConfigStoreSubject } from "@bridge/conformance";
import {
  type ConfigChange,
  type ConfigHistoryEntry,
  type ConfigStore,
  ConfigTextError,
  type StoredConfig,
} from "@bridge/ports";
import { memorySubject } from "./memory-subject.ts";

/** A store in memory with a fault in it, which the suite must find. */
export interface Mutant {
  /** What is wrong with the store: "a store that …". */
  readonly fault: string;
  readonly caughtBy: ConfigStoreCaseName;
  readonly subject: ConfigStoreSubject;
}

type Change = (store: ConfigStore, place: ConfigPlace) => Partial<ConfigStore>;

const NEVER = new AbortController().signal;

export const MUTANTS: readonly Mutant[] = [
  mutant("resolves references", "loads what is stored, references as they are written", (store) => ({
    async load(signal) {
      const stored = await store.load(signal);
      return stored && { ...stored, document: { ...stored.document, http: { admin_api_key: "resolved" } } };
    },
  })),
  mutant("has no name", "says where it comes from", () => ({ source: " " })),
  mutant("counts from one", "a document without config_version has version 0", (store) => ({
    load: async (signal) => withVersion(await store.load(signal), (version) => version || 1),
  })),
  mutant("quotes what it cannot parse", "what cannot be parsed is an error that does not quote it", (store) => ({
    async load(signal) {
      return store.load(signal).catch(() => Promise.reject(new Error("cannot parse canary-in-the-damage")));
    },
  })),
  mutant(
    "takes what it cannot parse for nothing",
    "what cannot be parsed is an error that does not quote it",
    (store) => ({
      load: (signal) => store.load(signal).catch(() => undefined),
    }),
  ),
  mutant(
    "takes the version for the revision",
    "another hand changes the revision, also when it leaves the version alone",
    (store) => ({
      async load(signal) {
        const stored = await store.load(signal);
        return stored && { ...stored, revision: String(stored.version) };
      },
    }),
  ),
  mutant("makes up revisions", "the revision stays while nobody writes, and is the same for every store", (store) => ({
    async load(signal) {
      const stored = await store.load(signal);
      return stored && { ...stored, revision: crypto.randomUUID() };
    },
  })),
  mutant(
    "compares versions only",
    "nothing is written over another hand's content, though the version is the same",
    (store) => ({
      async write(document, expected, signal) {
        const stored = await store.load(signal);
        return stored?.version === expected.version ? store.write(document, stored, signal) : undefined;
      },
    }),
  ),
  mutant("writes over everything", "nothing is written over a version that moved", (store) => ({
    async write(document, expected, signal) {
      const stored = await store.load(signal);
      return store.write(document, stored ?? expected, signal);
    },
  })),
  mutant("writes where nothing is any more", "nothing is written where the document is gone", (store, place) => ({
    async write(document, expected, signal) {
      if ((await place.content()) === undefined) await place.replace(document);
      return store.write(document, expected, signal);
    },
  })),
  mutant("merges", "what the new document leaves out is gone", (store) => ({
    write: (document, expected, signal) => store.write({ ...expected.document, ...document }, expected, signal),
  })),
  mutant(
    "takes the version from the document",
    "the version is counted by the store, whatever the document says",
    (store, place) => ({
      async write(document, expected, signal) {
        if (document["config_version"] !== 77) return store.write(document, expected, signal);
        await place.replace(document);
        return store.load(signal);
      },
    }),
  ),
  mutant("does not write what it has already", "a write of the same document is a version of its own", (store) => ({
    write: async (document, expected, signal) =>
      document === expected.document ? expected : store.write(document, expected, signal),
  })),
  mutant("folds long texts", "awkward values come back as they were written", (store) => ({
    async write(document, expected, signal) {
      const folded = JSON.parse(JSON.stringify(document).replaceAll("x y", "x\\ny")) as Record<string, unknown>;
      return store.write(folded, expected, signal);
    },
  })),
  mutant("sorts lists", "elements of a list come in the order of the new document", (store) => ({
    write: (document, expected, signal) =>
      store.write({ ...document, senders: (document["senders"] as { id: string }[]).toReversed() }, expected, signal),
  })),
  mutant("keeps the caller's objects", "what is loaded and what is written are nobody's to change", (store) => ({
    async write(document, expected, signal) {
      const written = await store.write(document, expected, signal);
      return written && { ...written, document: Object.assign(document, { config_version: written.version }) };
    },
  })),
  mutant("restores the content under a new version", "restoring puts back exactly what was there", (store) => ({
    restore: async (former, current, signal) => (await store.write(former.document, current, signal)) !== undefined,
  })),
  mutant("restores over everything", "nothing is restored over another hand's content", (store) => ({
    async restore(former, current, signal) {
      return store.restore(former, (await store.load(signal)) ?? current, signal);
    },
  })),
  mutant("looks first and writes later", "of writers that race, exactly one wins", (store) => ({
    async write(document, expected, signal) {
      if ((await store.load(signal))?.revision !== expected.revision) return undefined;
      await new Promise((resolve) => setImmediate(resolve));
      return store.write(document, (await store.load(signal)) ?? expected, signal);
    },
  })),
  mutant(
    "leaves half of a document to be seen",
    "whoever loads while others write sees one document or the other",
    (store) => ({
      async write(document, expected, signal) {
        const half = await store.write({ ...document, z: -1 }, expected, signal);
        await new Promise((resolve) => setTimeout(resolve, 2));
        return half && store.write(document, half, signal);
      },
    }),
  ),
  mutant("tells its own writes", "does not tell what the store itself wrote or restored", (_store, place) => ({
    watch: (signal) => secondWatch(place, signal),
  })),
  mutant(
    "forgets nothing that it has seen",
    "tells when another hand puts back what was there before a write of one's own",
    (store) => ({
      async *watch(signal) {
        const seen = new Set(["info plant-7"]);
        for await (const change of store.watch(signal)) {
          const key =
            change.kind === "changed" ? "info " + (change.stored.document["bridge"] as { id: string }).id : "";
          if (!seen.has(key)) yield change;
          seen.add(key);
        }
      },
    }),
  ),
  mutant("tells each of many changes", "tells the newest only, to a reader who is slow", (store) => ({
    async *watch(signal) {
      const queue: Promise<IteratorResult<ConfigChange>>[] = [];
      const changes = store.watch(signal)[Symbol.asyncIterator]();
      for (;;) {
        while (queue.length < 3) queue.push(changes.next());
        const result = (await queue.shift()) as IteratorResult<ConfigChange, undefined>;
        if (result.done === true) return;
        yield result.value;
      }
    },
  })),
  mutant(
    "says nothing of a document that is gone",
    "tells once that the document is missing, and when it comes back",
    (store) => ({
      watch: (signal) => only(store.watch(signal), (change) => change.kind !== "missing"),
    }),
  ),
  mutant(
    "says nothing of what it cannot parse",
    "tells what is no document, without quoting it, and its repair",
    (store) => ({
      watch: (signal) => only(store.watch(signal), (change) => change.kind !== "unreadable"),
    }),
  ),
  mutant(
    "begins to watch when it is asked for a change",
    "tells what changed between the load and the watch",
    (_store, place) => ({
      watch: (signal) => secondWatch(place, signal),
    }),
  ),
  mutant(
    "names what is there, seen or not",
    "names what it has seen last, and another content by another name",
    (store) => ({
      seen: store.seen ?? "1",
    }),
  ),
  mutant("sees only what it loads", "has seen what it has written, restored or told", (store) => {
    let seen: string | undefined;
    return {
      get seen() {
        return seen;
      },
      async load(signal) {
        const stored = await store.load(signal);
        seen = store.seen;
        return stored;
      },
    };
  }),
  mutant("goes on when its watch is aborted", "ends when its signal aborts, and leaves no listener", (store) => ({
    watch: () => store.watch(NEVER),
  })),
  mutant("lists the oldest first", "lists what was committed as it was appended, the newest first", (store) => ({
    history: { ...store.history!, list: async (signal) => (await store.history!.list(signal)).toReversed() },
  })),
  mutant("keeps the history that it has", "keeps the newest 20", (store) => ({
    history: {
      ...store.history!,
      async append(entry, signal) {
        if ((await store.history!.list(signal)).length < 20) await store.history!.append(entry, signal);
      },
    },
  })),
  mutant("keeps pending entries", "what follows a pending entry takes its place", (store) => ({
    history: {
      list: async (signal) =>
        (await store.history!.list(signal)).map(({ actor, ...entry }) =>
          actor.startsWith("pending ") ? { ...entry, actor: actor.slice(8), pending: true } : { ...entry, actor },
        ),
      append: ({ pending, ...entry }, signal) =>
        store.history!.append(pending === true ? { ...entry, actor: `pending ${entry.actor}` } : entry, signal),
    },
  })),
  mutant(
    "lets go of what another one has begun",
    "what follows a pending entry of a higher version leaves it, and is older",
    (store) => ({
      history: {
        ...store.history!,
        async append(entry, signal) {
          const [newest] = await store.history!.list(signal);
          if (newest?.pending === true) await store.history!.append({ ...entry, version: newest.version }, signal);
          await store.history!.append(entry, signal);
        },
      },
    }),
  ),
  mutant("tells an entry as often as it comes", "an entry that is there already is told once", () => {
    let entries: readonly ConfigHistoryEntry[] = [];
    return {
      history: {
        list: async () => entries,
        append: async (entry) => void (entries = [entry, ...entries].toSorted((a, b) => b.version - a.version)),
      },
    };
  }),
  mutant("writes its history over another's", "of appends that race, none is lost", () => {
    let entries: readonly ConfigHistoryEntry[] = [];
    return {
      history: {
        list: async () => entries,
        async append(entry) {
          const read = entries;
          await Promise.resolve();
          entries = [entry, ...read];
        },
      },
    };
  }),
  mutant("tells the text of nothing", "the text of what is stored says what is stored", (store) => ({
    texts: { ...store.texts!, of: async () => ({ format: "json", text: "{}" }) },
  })),
  mutant("merges into a text", "an edited text says the other document, awkward values too", (store) => ({
    texts: {
      ...store.texts!,
      edit: async (text, document, hidden, signal) =>
        store.texts!.edit(text, { ...(JSON.parse(text) as object), ...document }, hidden, signal),
    },
  })),
  mutant("quotes a text that is no document", "a text that is no document says why, and is not quoted", (store) => ({
    texts: {
      ...store.texts!,
      read: (text, signal) =>
        store.texts!.read(text, signal).catch(() => Promise.reject(new ConfigTextError(`no document: ${text}`))),
    },
  })),
  mutant("keeps the new version in place of the former", "what a write replaces is kept, for every store", (store) => ({
    versions: {
      ...store.versions!,
      load: (version, signal) => store.versions!.load(version + 1, signal),
    },
  })),
  mutant("keeps every version", "the newest 20 versions are kept", (store) => {
    const all = new Map<number, StoredConfig>();
    return {
      versions: { ...store.versions!, load: async (version) => all.get(version) },
      async write(document, expected, signal) {
        all.set(expected.version, expected);
        return store.write(document, expected, signal);
      },
    };
  }),
  mutant("forgets what was taken back", "what was taken back is kept, to be mended", (store) => ({
    versions: { ...store.versions!, keepReverted: async () => {} },
  })),
  mutant("keeps what was taken back beside the 20", "those that were taken back are among the 20", (store) => ({
    versions: {
      ...store.versions!,
      async list(signal) {
        const kept = await store.versions!.list(signal);
        return kept.length < 20 ? kept : [...kept, 5];
      },
    },
  })),
  mutant(
    "stores what was taken back",
    "what is kept is not part of the document, and is in nobody's watch",
    (store, place) => ({
      versions: { ...store.versions!, keepReverted: async ({ document }) => place.replace({ ...document, z: 1 }) },
    }),
  ),
  mutant(
    "writes before it looks at the signal",
    "an aborted write rejects with the signal's reason and writes nothing",
    (store) => ({
      async write(document, expected, signal) {
        const written = await store.write(document, expected, NEVER);
        signal.throwIfAborted();
        return written;
      },
    }),
  ),
  mutant("rejects with an error of its own", "an aborted load rejects with the signal's reason", (store) => ({
    async load(signal) {
      if (signal.aborted) throw new Error("aborted");
      return store.load(signal);
    },
  })),
  mutant("keeps listening to the signal", "leaves no listener on the signal", (store) => ({
    load(signal) {
      signal.addEventListener("abort", () => {});
      return store.load(signal);
    },
  })),
  mutant("cannot be disposed twice", "disposing twice is once", () => {
    let disposed = false;
    return {
      async [Symbol.asyncDispose]() {
        if (disposed) throw new Error("disposed twice");
        disposed = true;
      },
    };
  }),
  {
    fault: "writes to what is read-only",
    caughtBy: "a read-only document says so, and stays as it is",
    subject: { ...memorySubject, openReadOnly: (document) => memorySubject.open(document) },
  },
];

function mutant(fault: string, caughtBy: ConfigStoreCaseName, change: Change): Mutant {
  return {
    fault,
    caughtBy,
    subject: {
      ...memorySubject,
      async open(document) {
        const place = await memorySubject.open(document);
        return { ...place, store: changed(bound(place.store), change(place.store, place)) };
      },
    },
  };
}

/** `store` with other properties in place of its own, getters among them. */
function changed(store: ConfigStore, change: Partial<ConfigStore>): ConfigStore {
  return Object.defineProperties(store, Object.getOwnPropertyDescriptors(change));
}

function bound(store: ConfigStore): ConfigStore {
  return {
    source: store.source,
    get seen() {
      return store.seen;
    },
    load: (signal) => store.load(signal),
    write: (document, expected, signal) => store.write(document, expected, signal),
    restore: (former, current, signal) => store.restore(former, current, signal),
    watch: (signal) => store.watch(signal),
    ...(store.history && { history: store.history }),
    ...(store.texts && { texts: store.texts }),
    ...(store.versions && { versions: store.versions }),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

function withVersion(stored: StoredConfig | undefined, change: (version: number) => number): StoredConfig | undefined {
  return stored && { ...stored, version: change(stored.version) };
}

/** A watch of a store that has neither loaded nor written. */
async function* secondWatch(place: ConfigPlace, signal: AbortSignal): AsyncGenerator<ConfigChange> {
  yield* (await place.second()).watch(signal);
}

async function* only(
  changes: AsyncIterable<ConfigChange>,
  wanted: (change: ConfigChange) => boolean,
): AsyncGenerator<ConfigChange> {
  for await (const change of changes) if (wanted(change)) yield change;
}
