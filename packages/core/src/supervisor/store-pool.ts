import { isDeepStrictEqual } from "node:util";
import { noStoreFactory, type Registry, type StoreConfig, type StoreRole, type StoresSection } from "@bridge/config";
import {
  deadline,
  type DlqStore,
  type LeaseStore,
  orAborted,
  type OutboxStore,
  type Seams,
  type StorePlugin,
} from "@bridge/ports";
import type { StopPhase } from "../runtime/stop-phases.ts";
import type { StoreView } from "../view/bridge-view.ts";

const OPEN_TIMEOUT_MS = 30_000;
const CLOSE_CEILING_MS = 5_000;

/** The roles that the engine opens stores for, with what it opens. */
interface Stores {
  dlq: DlqStore;
  outbox: OutboxStore;
  lease: LeaseStore;
}

const ROLES = ["dlq", "outbox", "lease"] as const;

interface Handle<Store> {
  readonly block: StoreConfig;
  readonly store: Store;
}

/** Who has to know which outbox is open. */
export interface OutboxWatch {
  /** Sees an outbox before anybody uses it. */
  readonly opened: (store: OutboxStore) => Promise<void>;
  /** Told when nobody will use it again, though the process goes on. */
  readonly closed: () => void;
}

/**
 * The store handles of a bridge, lent to its runtimes. They stay open while the bridge is paused, so that dead letters
 * can be read and deleted then, and what a memory store holds survives a stop and a start.
 */
export class StorePool {
  readonly #registry: Registry;
  readonly #seams: Seams;
  readonly #watch: OutboxWatch;
  readonly #handles: { [Role in keyof Stores]?: Handle<Stores[Role]> | undefined } = {};

  constructor(registry: Registry, seams: Seams, watch: OutboxWatch) {
    this.#registry = registry;
    this.#seams = seams;
    this.#watch = watch;
  }

  dlq(): DlqStore | undefined {
    return this.#handles.dlq?.store;
  }

  outbox(): OutboxStore | undefined {
    return this.#handles.outbox?.store;
  }

  leases(): LeaseStore | undefined {
    return this.#handles.lease?.store;
  }

  /** Opens what is configured and not open yet, and closes what is configured no more, or otherwise. */
  async open(blocks: StoresSection, signal: AbortSignal): Promise<void> {
    if (!isDeepStrictEqual(this.#handles.dlq?.block, blocks.dlq)) {
      await this.#closeInTime("dlq");
      this.#handles.dlq = await this.#open("dlq", blocks.dlq, this.#registry.dlqStores, signal);
    }
    if (!isDeepStrictEqual(this.#handles.outbox?.block, blocks.outbox)) {
      if (this.#handles.outbox !== undefined) this.#watch.closed();
      await this.#closeInTime("outbox");
      const handle = await this.#open("outbox", blocks.outbox, this.#registry.outboxStores, signal);
      if (handle !== undefined) await this.#watch.opened(handle.store);
      this.#handles.outbox = handle;
    }
    if (!isDeepStrictEqual(this.#handles.lease?.block, blocks.lease)) {
      await this.#closeInTime("lease");
      this.#handles.lease = await this.#open("lease", blocks.lease, this.#registry.leaseStores, signal);
    }
  }

  /** What the configured stores tell of themselves. */
  views(blocks: StoresSection): readonly StoreView[] {
    return ROLES.flatMap((role) => {
      const block = blocks[role];
      if (block === undefined) return [];
      const store = this.#handles[role]?.store;
      const health = store?.health?.() ?? { setAside: [] };
      return [{ role, type: block.type, open: store !== undefined, ...health }];
    });
  }

  /** The phases that close everything at shutdown. */
  closes(): readonly StopPhase[] {
    return ROLES.filter((role) => this.#handles[role] !== undefined).map((role) => ({
      name: `store ${role}`,
      ceilingMs: CLOSE_CEILING_MS,
      run: () => this.#close(role),
    }));
  }

  async #closeInTime(role: keyof Stores): Promise<void> {
    using bound = deadline(
      CLOSE_CEILING_MS,
      new Error(`the ${role} store was not closed after ${CLOSE_CEILING_MS} ms`),
    );
    await orAborted(this.#close(role), bound.signal);
  }

  async #close(role: keyof Stores): Promise<void> {
    const handle = this.#handles[role];
    this.#handles[role] = undefined;
    await handle?.store[Symbol.asyncDispose]();
  }

  async #open<Store extends AsyncDisposable>(
    role: StoreRole,
    block: StoreConfig | undefined,
    plugins: ReadonlyMap<string, StorePlugin<Store>>,
    signal: AbortSignal,
  ): Promise<Handle<Store> | undefined> {
    if (block === undefined) return undefined;
    const plugin = plugins.get(block.type);
    if (plugin === undefined) throw new Error(noStoreFactory(role, block.type, plugins.keys()));
    const logger = this.#seams.logger.child({ store: role });
    const open = plugin.create(block.options, { ...this.#seams, id: role, logger });
    using bound = deadline(OPEN_TIMEOUT_MS, new Error(`the ${role} store was not open after ${OPEN_TIMEOUT_MS} ms`));
    const bounded = AbortSignal.any([signal, bound.signal]);
    const opening = open(bounded);
    try {
      return { block, store: await orAborted(opening, bounded) };
    } catch (error) {
      // A store that opens after all must not stay open behind our back.
      void opening.then((late) => late[Symbol.asyncDispose]()).catch(() => {});
      throw error;
    }
  }
}
