import type { BridgeConfig, Registry, ShutdownBudgets } from "@bridge/config";
import type { OutboxStore, Seams } from "@bridge/ports";
import { Accounts } from "../accounting/accounts.ts";
import { unaccounted } from "../accounting/leg-account.ts";
import { Controls } from "../control/controls.ts";
import { warnOfUndrained } from "../outbox/undrained.ts";
import { build, type Kept, type RuntimeParts } from "../runtime/build.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { SessionCounts } from "../view/session-counts.ts";
import type { BridgeStats } from "../view/stats.ts";
import { StorePool } from "./store-pool.ts";

export interface FoundationOptions {
  readonly registry: Registry;
  readonly seams: Seams;
  /** The shutdown budgets in force. */
  readonly budgets: () => ShutdownBudgets;
  /** Aborted when the process is to end. */
  readonly root: AbortSignal;
}

/** What runtimes are built on and what outlasts them: stores, controls, and the counters, which never go back. */
export class Foundation {
  readonly stores: StorePool;
  readonly accounts = new Accounts();
  readonly controls: Controls;
  readonly #options: FoundationOptions;
  readonly #sessionCounts = new SessionCounts();

  constructor(options: FoundationOptions) {
    const { registry, seams } = options;
    this.#options = options;
    this.controls = new Controls(seams.clock);
    this.stores = new StorePool(registry, seams, {
      opened: (outbox) => this.#recover(outbox),
      closed: () => this.accounts.outboxClosed(),
    });
  }

  build(config: BridgeConfig, kept?: Kept): RuntimeParts {
    const { registry, seams, budgets } = this.#options;
    const { accounts, controls, stores } = this;
    return build({
      ...seams,
      config,
      registry,
      accounts,
      controls,
      dlq: () => stores.dlq(),
      outbox: () => stores.outbox(),
      budgets,
      ...(kept !== undefined && { kept }),
    });
  }

  /** Opens the stores of `config`, and says what they hold that it does not deliver. */
  async open(config: BridgeConfig, signal: AbortSignal): Promise<void> {
    await this.stores.open(config.stores, signal);
    await warnOfUndrained(this.stores.outbox(), config, this.#options.seams.logger, signal);
  }

  /** Parts of `config` are about to start. */
  starting(config: BridgeConfig, { links }: RuntimeParts): void {
    this.#sessionCounts.follow([...links.values()]);
    this.controls.limit(config);
  }

  /** `config` is in force: what it does not have is forgotten, where that loses no count. */
  follow(config: BridgeConfig): void {
    this.controls.follow(config);
    this.#sessionCounts.forget(config);
    this.accounts.follow(config);
  }

  stats(runtime: Runtime | undefined): BridgeStats {
    const { accounts } = this;
    const legs = accounts.legs();
    return {
      legs,
      routes: accounts.routes(),
      sessions: this.#sessionCounts.read(),
      parts: runtime?.partStats() ?? [],
      redrives: accounts.redrives,
      redriveFailures: accounts.redriveFailures,
      unaccounted: unaccounted(legs),
    };
  }

  /** Enters what an outbox holds when it is opened; from then on every record comes in and goes out through us. */
  async #recover(store: OutboxStore): Promise<void> {
    for (const { routeId, bindingId, depth } of await store.backlog(this.#options.root)) {
      this.accounts.leg(routeId, bindingId).recover(depth);
    }
  }
}
