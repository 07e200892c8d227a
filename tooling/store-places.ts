import { describe, expect, it } from "vitest";

/**
 * Of each kind of store that keeps messages: which of its options say where it is, and which only how it is used. A new option has to be
 * put into one of the two. @module
 */

type Options = Readonly<Record<string, unknown>>;
type Role = "dlq" | "outbox";

interface Kind {
  readonly options: Options;
  /** Another place, by the option that says so; with what it needs besides. */
  readonly where: Readonly<Record<string, Options>>;
  readonly how: Options;
}

const FILE: Kind = {
  options: { path: "a" },
  where: { path: { path: "b" } },
  how: { retention: "3h", max_bytes: 10_000_000 },
};
const DYNAMODB: Kind = {
  options: { table_name: "one.table" },
  where: { table_name: { table_name: "another.table" } },
  how: { retention: "3h" },
};
const POSTGRES: Kind = {
  options: { host: "here", database: "plant" },
  where: {
    host: { host: "there" },
    port: { port: 5433 },
    database: { database: "other" },
    schema: { schema: "other" },
    url: { url: "postgresql://there/plant", host: undefined, database: undefined },
  },
  how: { user: "alice", password: "s3cret", tls: { reject_unauthorized: false }, pool_size: 9, retention: "3h" },
};
/** Nothing of it outlasts its process. */
const MEMORY: Kind = {
  options: { acknowledge_volatile: true },
  where: {},
  how: { acknowledge_volatile: true },
};

const KINDS: Readonly<Record<string, Kind>> = {
  "dlq file": FILE,
  "dlq memory": { ...MEMORY, how: { ...MEMORY.how, max_entries: 3 } },
  "dlq dynamodb": DYNAMODB,
  "dlq postgres": POSTGRES,
  "outbox file": { ...FILE, how: { ...FILE.how, on_corrupt: "quarantine" } },
  "outbox memory": { ...MEMORY, how: { ...MEMORY.how, max_records: 3, retention: "3h" } },
  "outbox dynamodb": DYNAMODB,
  "outbox postgres": POSTGRES,
};

/** What an environment says that the documents of these tests refer to. */
const PLACES: Readonly<Record<string, string>> = { PLACE: "dead.letters" };
const SOURCES = { env: (name: string) => PLACES[name], file: () => Promise.reject(new Error("there is none")) };

/** By role and type. */
type Kinds = Readonly<Record<Role, ReadonlyMap<string, { readonly options: unknown }>>>;

/** What `@bridge/config` makes of documents. It is handed in: that package uses this one. */
interface Config<Plugins, Registry extends { readonly stores: Kinds }, Runs, StoresOf, Clock> {
  createRegistry(plugins: Plugins): Registry;
  checkDocument(
    document: unknown,
    registry: Registry,
    sources: typeof SOURCES,
    signal: AbortSignal,
  ): Promise<
    { readonly ok: true; readonly config: Runs } | { readonly ok: false; readonly problems: readonly object[] }
  >;
  namedStores(sight: {
    readonly registry: Registry;
    readonly sources: typeof SOURCES;
    readonly clock: Clock;
  }): StoresOf;
  leftByDeparture(
    former: { readonly version: number; readonly revision: string; readonly document: Document },
    runs: Runs,
    unusable: string,
    storesOf: StoresOf,
  ): Promise<{ readonly leftStores: readonly string[] } | undefined>;
}

/** @param plugins what a program is made of */
export function describeStorePlaces<Plugins, Registry extends { readonly stores: Kinds }, Runs, StoresOf, Clock>(
  config: Config<Plugins, Registry, Runs, StoresOf, Clock>,
  plugins: Plugins,
  clock: Clock,
): void {
  const registry = config.createRegistry(plugins);
  const { stores } = registry;
  const storesOf = config.namedStores({ registry, sources: SOURCES, clock });
  /** Which stores of a document nobody opens any more when another one runs. */
  const leftOf = async (document: Document, runs: Document): Promise<readonly string[]> => {
    const checked = await config.checkDocument(runs, registry, SOURCES, new AbortController().signal);
    if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
    const former = { version: 1, revision: "1", document };
    return (await config.leftByDeparture(former, checked.config, "it is only tried", storesOf))?.leftStores ?? [];
  };
  const names = (["dlq", "outbox"] as const).flatMap((role) =>
    [...stores[role].keys()].map((type) => [role, type] as const),
  );
  describe.each(names)("the %s in %s", (role, type) => {
    const { options, where, how } = KINDS[`${role} ${type}`] ?? { options: {}, where: {}, how: {} };
    const left = (from: Options, to: Options): Promise<readonly string[]> =>
      leftOf(documentOf(role, type, from), documentOf(role, type, to));

    it("spec 4.9.4: each of its options is known to say where it is, or not", () => {
      const known = [...Object.keys(where), ...Object.keys(how)];
      expect(known.toSorted()).toEqual(optionsOf(stores[role].get(type)?.options).toSorted());
    });

    it.each(Object.entries(where))("spec 4.9.4: another %s is another place", async (_, other) => {
      const both = Object.entries({ ...options, ...other });
      const moved = Object.fromEntries(both.filter(([, value]) => value !== undefined));
      expect([await left(options, moved), await left(moved, options)]).toEqual([[role], [role]]);
    });

    it.each(Object.entries(how))("spec 4.9.4: another %s is the same place", async (name, value) => {
      const changed = { ...options, [name]: value };
      expect([await left(options, changed), await left(changed, options)]).toEqual([[], []]);
    });

    it.each(Object.keys(where).slice(0, 1))(
      "spec 4.9.4: what a reference in its %s stands for is the place",
      async (name) => {
        const [known, unknown] = ["PLACE", "GONE"].map((word) => ({ ...options, [name]: `\${env:${word}}` }));
        const there = { ...options, [name]: PLACES["PLACE"] };
        expect([await left(known ?? {}, there), await left(unknown ?? {}, there)]).toEqual([[], [role]]);
      },
    );
  });
}

type Document = ReturnType<typeof documentOf>;

function documentOf(role: Role, type: string, options: Options) {
  return { bridge: { id: "plant-7" }, stores: { [role]: { type, options } } };
}

/** By the names that a document gives them. */
function optionsOf(schema: unknown): readonly string[] {
  const { entries, pipe } = schema as { readonly entries?: object; readonly pipe?: readonly unknown[] };
  return entries === undefined ? (pipe ?? []).flatMap((part) => optionsOf(part)) : Object.keys(entries);
}
