import { isDeepStrictEqual } from "node:util";
import { noStoreFactory, type Registry, type StoreConfig, type StoreRole, type StoresSection } from "@bridge/config";
import { type DlqStore, type LeaseStore, type OutboxStore, type Seams, type StorePlugin } from "@bridge/ports";
import { asError } from "../as-error.ts";
import { builtStore } from "../runtime/built-part.ts";
import { runPhases, type StopPhase } from "../runtime/stop-phases.ts";
import type { StoreView } from "../view/bridge-view.ts";
import { StoreHandle, type StoreHandleOptions } from "./store-handle.ts";

/**
 * How long a start or a change waits for a store to be refused, so that it fails with the reason, or to be open, so that
 * nothing has to be tried again. Whatever it is by then, they go on.
 */
const REFUSAL_MS = 2_000;
const CLOSE_CEILING_MS = 5_000;

/** The roles that the engine opens stores for, with what it opens. */
interface Stores {
  dlq: DlqStore;
  outbox: OutboxStore;
  lease: LeaseStore;
}

const ROLES = ["dlq", "outbox", "lease"] as const;

/** Who has to know which outbox is open. */
export interface OutboxWatch {
  /** Sees an outbox before anybody uses it, as {@link StoreHandleOptions.look} does. */
  readonly look: (store: OutboxStore, signal: AbortSignal) => Promise<() => void>;
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
  readonly #handles: { [Role in keyof Stores]?: StoreHandle<Stores[Role]> | undefined } = {};

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

  /**
   * Begins to open what is configured and not there yet, and closes what is configured no more, or otherwise. Waits for no
   * store's answer longer than a moment: one that is not open by then opens when it can.
   * @throws what a store was refused with, unless its service is only away
   */
  async open(blocks: StoresSection, signal: AbortSignal): Promise<void> {
    const begun = await this.begin(blocks, true);
    try {
      await Promise.all(begun.map(async (role) => this.#handles[role]?.refused(REFUSAL_MS, signal)));
    } catch (error) {
      // Those that are open stay so, for the next start.
      const refused = begun.filter((role) => this.#handles[role]?.store === undefined);
      await Promise.all(refused.map((role) => this.#closeInTime(role)));
      throw error;
    }
  }

  /** The same, but waits for nothing: also one that is refused is tried until it opens. Returns what is new. */
  async begin(blocks: StoresSection, awaited = false): Promise<readonly StoreRole[]> {
    const { dlqStores, outboxStores, leaseStores } = this.#registry;
    const changed = ROLES.filter((role) => !isDeepStrictEqual(this.#handles[role]?.block, blocks[role]));
    if (changed.includes("outbox") && this.#handles.outbox !== undefined) this.#watch.closed();
    await Promise.all(changed.map((role) => this.#closeInTime(role)));
    for (const role of ROLES) this.#handles[role]?.doubt();
    for (const role of changed) {
      if (role === "dlq") this.#handles.dlq = this.#handle(role, awaited, blocks.dlq, dlqStores);
      if (role === "outbox")
        this.#handles.outbox = this.#handle(role, awaited, blocks.outbox, outboxStores, this.#watch.look);
      if (role === "lease") this.#handles.lease = this.#handle(role, awaited, blocks.lease, leaseStores);
    }
    return changed;
  }

  /** What is known of the configured stores. */
  views(blocks: StoresSection): readonly StoreView[] {
    return ROLES.flatMap((role) => {
      const block = blocks[role];
      if (block === undefined) return [];
      return this.#handles[role]?.view() ?? { role, type: block.type, state: "closed", open: false, setAside: [] };
    });
  }

  /** The phases that close everything at shutdown. */
  closes(): readonly StopPhase[] {
    return ROLES.map((role) => this.#closing(role));
  }

  /** One that does not close in time keeps nobody from going on: nobody uses it any more. */
  async #closeInTime(role: StoreRole): Promise<void> {
    for (const { phase, error } of await runPhases(this.#seams.clock, [this.#closing(role)])) {
      this.#seams.logger.error("not closed", { part: phase, error: asError(error).message });
    }
  }

  #closing(role: StoreRole): StopPhase {
    return {
      name: `store ${role}`,
      ceilingMs: CLOSE_CEILING_MS,
      run: async () => {
        const handle = this.#handles[role];
        this.#handles[role] = undefined;
        await handle?.[Symbol.asyncDispose]();
      },
    };
  }

  #handle<Store extends Stores[StoreRole]>(
    role: StoreRole,
    awaited: boolean,
    block: StoreConfig | undefined,
    plugins: ReadonlyMap<string, StorePlugin<Store>>,
    look: StoreHandleOptions<Store>["look"] = async () => () => {},
  ): StoreHandle<Store> | undefined {
    if (block === undefined) return undefined;
    const plugin = plugins.get(block.type);
    if (plugin === undefined) throw new Error(noStoreFactory(role, block.type, plugins.keys()));
    const seams = { ...this.#seams, logger: this.#seams.logger.child({ store: role }) };
    const built = plugin.create(block.options, { ...seams, id: role });
    const open = builtStore(built, `${role} store`, `the ${role} store plugin "${block.type}"`);
    return new StoreHandle({ ...seams, role, block, open, awaited, look });
  }
}
