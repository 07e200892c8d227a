import type { BridgeConfig, BridgeSection, Registry } from "@bridge/config";
import type { OutboxStore, Seams, Tracer } from "@bridge/ports";
import { Accounts } from "../accounting/accounts.ts";
import { unaccounted } from "../accounting/leg-account.ts";
import { Controls } from "../control/controls.ts";
import { warnOfUndrained } from "../outbox/undrained.ts";
import type { Lease } from "../lease/lease.ts";
import { LeaseCounts } from "../lease/lease-counts.ts";
import { LeaseKeeper } from "../lease/lease-keeper.ts";
import { LeaseWriter } from "../lease/lease-writer.ts";
import { build, type Kept, type RuntimeParts } from "../runtime/build.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { SessionCounts } from "../view/session-counts.ts";
import type { BridgeStats } from "../view/stats.ts";
import { StorePool } from "./store-pool.ts";

export interface FoundationOptions {
  readonly registry: Registry;
  readonly seams: Seams;
  /** The `bridge` block in force. */
  readonly bridge: () => BridgeSection;
  readonly instanceId: string;
  /** This process, told from all others. */
  readonly holder: string;
  /** Aborted when the process is to end. */
  readonly root: AbortSignal;
  readonly tracer: Tracer | undefined;
}

/** What runtimes are built on and what outlasts them: stores, controls, and the counters, which never go back. */
export class Foundation {
  readonly stores: StorePool;
  readonly accounts = new Accounts();
  readonly controls: Controls;
  readonly #options: FoundationOptions;
  readonly #sessionCounts = new SessionCounts();
  readonly #leaseCounts = new LeaseCounts();

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
    const { registry, seams, bridge, instanceId, tracer } = this.#options;
    const { accounts, controls, stores } = this;
    return build({
      ...seams,
      config,
      instanceId,
      registry,
      accounts,
      controls,
      dlq: () => stores.dlq(),
      outbox: () => stores.outbox(),
      budgets: bridge,
      tracer,
      ...(kept !== undefined && { kept }),
    });
  }

  /** Keeps one lease until `signal` aborts, and releases it then. @throws LeaseLost when it is lost for good */
  keepLease(lease: Lease, signal: AbortSignal): Promise<void> {
    const { seams, bridge, holder } = this.#options;
    const { clock } = seams;
    const writer = new LeaseWriter({ key: lease.key, clock, store: () => this.stores.leases() });
    const logger = seams.logger.child({ session_id: lease.sessionId });
    const count = this.#leaseCounts.of(lease.sessionId);
    return new LeaseKeeper({ lease, writer, holder, timing: bridge, count, clock, logger }).run(signal);
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
    this.#leaseCounts.follow(new Set(config.sessions.map(({ id }) => id)));
    this.accounts.follow(config);
  }

  stats(runtime: Runtime | undefined): BridgeStats {
    const { accounts } = this;
    const legs = accounts.legs();
    return {
      legs,
      routes: accounts.routes(),
      sessions: this.#sessionCounts.read(),
      leases: this.#leaseCounts.read(),
      parts: runtime?.partStats() ?? [],
      redrives: accounts.redrives,
      redriveFailures: accounts.redriveFailures,
      unaccounted: unaccounted(legs),
    };
  }

  /**
   * Enters what an outbox holds when it is opened; from then on every record comes in and goes out through us. One that
   * is shared holds what others have in their books: of that we enter what ends here, when it does.
   */
  async #recover(store: OutboxStore): Promise<void> {
    if (store.shared === true) return;
    for (const { routeId, bindingId, depth } of await store.backlog(this.#options.root)) {
      this.accounts.leg(routeId, bindingId).recover(depth);
    }
  }
}
