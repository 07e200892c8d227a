import { noStoreFactory, type Registry, type StoreConfig } from "@bridge/config";
import { deadline, type DlqStore, orAborted, type Seams } from "@bridge/ports";
import type { StopPhase } from "../runtime/stop-phases.ts";

const OPEN_TIMEOUT_MS = 30_000;
const CLOSE_CEILING_MS = 5_000;

/**
 * The store handles of a bridge, lent to its runtimes. They stay open while the bridge is paused, so that dead letters
 * can be read and deleted then, and what a memory store holds survives a stop and a start.
 */
export class StorePool {
  readonly #registry: Registry;
  readonly #seams: Seams;
  #dlq: { readonly block: StoreConfig; readonly store: DlqStore } | undefined;

  constructor(registry: Registry, seams: Seams) {
    this.#registry = registry;
    this.#seams = seams;
  }

  dlq(): DlqStore | undefined {
    return this.#dlq?.store;
  }

  /** Opens what is configured and not open yet, and closes what is configured no more. */
  async open(dlq: StoreConfig | undefined, signal: AbortSignal): Promise<void> {
    if (this.#dlq !== undefined && this.#dlq.block === dlq) return;
    const former = this.#dlq;
    this.#dlq = undefined;
    await former?.store[Symbol.asyncDispose]();
    if (dlq === undefined) return;
    const plugin = this.#registry.dlqStores.get(dlq.type);
    if (plugin === undefined) throw new Error(noStoreFactory("dlq", dlq.type, this.#registry.dlqStores.keys()));
    const open = plugin.create(dlq.options, {
      ...this.#seams,
      id: "dlq",
      logger: this.#seams.logger.child({ store: "dlq" }),
    });
    using bound = deadline(OPEN_TIMEOUT_MS, new Error(`the DLQ store was not open after ${OPEN_TIMEOUT_MS} ms`));
    const bounded = AbortSignal.any([signal, bound.signal]);
    const opening = open(bounded);
    try {
      this.#dlq = { block: dlq, store: await orAborted(opening, bounded) };
    } catch (error) {
      void opening.then((late) => late[Symbol.asyncDispose]()).catch(() => {});
      throw error;
    }
  }

  /** The phases that close everything at shutdown. */
  closes(): readonly StopPhase[] {
    const open = this.#dlq;
    if (open === undefined) return [];
    return [
      {
        name: "store dlq",
        ceilingMs: CLOSE_CEILING_MS,
        run: async () => {
          this.#dlq = undefined;
          await open.store[Symbol.asyncDispose]();
        },
      },
    ];
  }
}
