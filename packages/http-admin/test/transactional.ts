import { type ConfigApplier, createConfigTransactions } from "@bridge/config";
import { MemoryDocument, openMemoryConfig } from "@bridge/memory";
import type { Supervisor } from "@bridge/core";
import { type Clock, type ConfigStore, type Logger, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import type { Authenticate } from "../src/index.ts";
import { type Admin, type Answer, startAdmin, type StartOptions } from "./admin.ts";
import { makeBridge } from "./bridge.ts";

const TRANSACTIONS = "/config/transactions";

/** An admin server whose bridge has a configuration that can be changed. */
export interface Transactional extends Admin {
  readonly held: MemoryDocument;
  /** Opens a transaction and patches it; resolves to the path of it. */
  opened(overlay?: object): Promise<string>;
  commit(overlay: object): Promise<Answer>;
}

export interface TransactionalOptions {
  /** Put over the document of {@link makeBridge}; `undefined` in whole: there is none. */
  readonly document?: object | undefined;
  /** Stands in front of the store, the bridge, or both. */
  readonly store?: (store: ConfigStore) => ConfigStore;
  readonly applier?: ((supervisor: Supervisor) => ConfigApplier) | "none";
  readonly readOnly?: boolean;
  /** As in {@link makeBridge}. */
  readonly outbox?: boolean;
  /** Of the bridge. Default: it logs nothing. */
  readonly logger?: Logger;
  readonly applyTimeoutMs?: number;
  /** Failed logins that are still answered as such. */
  readonly throttle?: { readonly limit: number };
  /** In place of a key. */
  readonly authenticate?: Authenticate;
  readonly env?: Readonly<Record<string, string>>;
  /** Of the bridge, and of the transactions. Default: the system's. */
  readonly clocks?: { readonly bridge: Clock; readonly transactions: Clock };
  readonly admin?: Pick<StartOptions, "clock" | "history" | "logger" | "seenAs">;
}

export async function startTransactional(options: TransactionalOptions = {}): Promise<Transactional> {
  const { document = {}, store: faulty = (store) => store, applier = (supervisor) => supervisor, env = {} } = options;
  const { clocks = { bridge: systemClock, transactions: systemClock } } = options;
  const bridge = makeBridge({
    outbox: options.outbox ?? false,
    clock: clocks.bridge,
    logger: options.logger ?? silentLogger,
  });
  const held = new MemoryDocument(
    "document" in options && options.document === undefined ? undefined : { ...bridge.document, ...document },
  );
  const admin = await startAdmin({
    ...options.admin,
    bridge,
    throttle: options.throttle,
    ...(options.authenticate !== undefined && { keys: undefined, authenticate: options.authenticate }),
    configTransactions: createConfigTransactions({
      store: faulty(openMemoryConfig(held, { readOnly: options.readOnly ?? false })),
      registry: bridge.registry,
      sources: { env: (name) => env[name], file: () => Promise.reject(new Error("it is not there")) },
      applier: applier === "none" ? undefined : applier(bridge.supervisor),
      applyTimeoutMs: options.applyTimeoutMs,
      clock: clocks.transactions,
      random: systemRandom(),
      logger: options.admin?.logger ?? silentLogger,
    }),
  });
  const opened = async (overlay?: object): Promise<string> => {
    const { txn_id: id } = (await admin.call("POST", TRANSACTIONS)).body as { txn_id: string };
    const path = `${TRANSACTIONS}/${id}`;
    if (overlay !== undefined) await admin.call("PATCH", path, overlay);
    return path;
  };
  const commit = async (overlay: object): Promise<Answer> => admin.call("POST", `${await opened(overlay)}/commit`);
  return { ...admin, held, opened, commit, [Symbol.asyncDispose]: () => admin[Symbol.asyncDispose]() };
}

/** Puts other methods in place of a store's own. */
export function storeWith(methods: Partial<ConfigStore>): (store: ConfigStore) => ConfigStore {
  return (store) => ({
    source: store.source,
    get seen() {
      return store.seen;
    },
    load: (signal) => store.load(signal),
    write: (document, expected, signal, text) => store.write(document, expected, signal, text),
    restore: (former, current, signal) => store.restore(former, current, signal),
    watch: (signal) => store.watch(signal),
    ...(store.history !== undefined && { history: store.history }),
    ...(store.texts !== undefined && { texts: store.texts }),
    ...(store.versions !== undefined && { versions: store.versions }),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    ...methods,
  });
}

/** Puts another `apply` in place of the bridge's. */
export function applierWith(apply: ConfigApplier["apply"]): (supervisor: Supervisor) => ConfigApplier {
  return (supervisor) => ({
    apply,
    beyondRecovery: () => supervisor.beyondRecovery(),
    plan: (config, signal) => supervisor.plan(config, signal),
    stranding: (config, signal, stored) => supervisor.stranding(config, signal, stored),
  });
}
