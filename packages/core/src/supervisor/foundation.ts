import type { BridgeConfig, BridgeSection, Registry, Stranding } from "@bridge/config";
import type { OutboxBacklog, OutboxRecord, OutboxStore, Seams, Tracer } from "@bridge/ports";
import type { Steps } from "@bridge/ports/internal";
import { Accounts } from "../accounting/accounts.ts";
import { unaccounted } from "../accounting/leg-account.ts";
import { Controls } from "../control/controls.ts";
import { JobTallies } from "../dlq-job/job-tallies.ts";
import { LeftRecords } from "../outbox/left-records.ts";
import { warnOfUndrained } from "../outbox/undrained.ts";
import { Hooks } from "../hooks/hooks.ts";
import type { BridgeHooks } from "../hooks/bridge-hooks.ts";
import type { Lease } from "../lease/lease.ts";
import { LeaseCounts } from "../lease/lease-counts.ts";
import { LeaseKeeper } from "../lease/lease-keeper.ts";
import { LeaseWriter } from "../lease/lease-writer.ts";
import { DueLooks } from "../route/due-looks.ts";
import { building } from "../runtime/build.ts";
import type { Kept, RuntimeParts } from "../runtime/runtime-parts.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { Recent } from "../recent/recent.ts";
import { leaveSessions } from "../session/leave-sessions.ts";
import { Taps } from "../tap/taps.ts";
import { SessionCounts } from "../view/session-counts.ts";
import type { BridgeStats } from "../view/stats.ts";
import type { Veils } from "../veils.ts";
import { leftBehind, leftBehindByStandstill } from "./left-behind.ts";
import { StorePool } from "./store-pool.ts";

export interface FoundationOptions {
  readonly registry: Registry;
  readonly seams: Seams;
  /** The `bridge` block in force. */
  readonly bridge: () => BridgeSection;
  readonly instanceId: string;
  readonly veils: Veils;
  /** This process, told from all others. */
  readonly holder: string;
  /** Aborted when the process is to end. */
  readonly root: AbortSignal;
  readonly tracer: Tracer | undefined;
  readonly hooks: BridgeHooks | undefined;
  /** Told what an outbox that has just been opened holds of a route. */
  readonly recovered: (routeId: string, bindingId: string, depth: number) => void;
}

/** What runtimes are built on and what outlasts them: stores, controls, and the counters, which never go back. */
export class Foundation {
  readonly stores: StorePool;
  readonly accounts = new Accounts();
  readonly jobTallies = new JobTallies();
  readonly hooks: Hooks;
  readonly controls: Controls;
  readonly taps: Taps;
  readonly recent: Recent;
  readonly #options: FoundationOptions;
  readonly #looks: DueLooks;
  readonly #leftRecords: LeftRecords;
  readonly #sessionCounts = new SessionCounts();
  readonly #leaseCounts = new LeaseCounts();
  /** What the stores were last opened for. */
  #served: BridgeConfig | undefined;
  #undrained: readonly OutboxBacklog[] = [];
  /** The last question of what nobody delivers: an answer to an earlier one does not count. */
  #look: symbol | undefined;

  constructor(options: FoundationOptions) {
    const { registry, seams } = options;
    this.#options = options;
    this.controls = new Controls(seams.clock);
    this.taps = new Taps(seams.clock);
    this.recent = new Recent(seams.clock);
    this.#looks = new DueLooks(seams.clock);
    this.stores = new StorePool(registry, seams, {
      look: (outbox, signal) => this.#recover(outbox, signal),
      closed: () => this.accounts.outboxClosed(),
    });
    this.#leftRecords = new LeftRecords({
      ...seams,
      store: () => this.stores.outbox(),
      accounts: () => this.accounts.all,
      root: options.root,
    });
    const { veils, hooks } = options;
    this.hooks = new Hooks({ ...seams, hooks, veil: () => veils.veil, dlq: () => this.stores.dlq() });
  }

  /** This process, told from all others. */
  get holder(): string {
    return this.#options.holder;
  }

  build(config: BridgeConfig, kept?: Kept): Steps<RuntimeParts> {
    const { registry, seams, bridge, instanceId, tracer, veils } = this.#options;
    const { accounts, controls, taps, recent, stores, hooks } = this;
    return building({
      ...seams,
      config,
      instanceId,
      registry,
      accounts,
      controls,
      taps,
      recent,
      hooks,
      looks: this.#looks,
      dlq: () => stores.dlq(),
      outbox: () => stores.outbox(),
      budgets: bridge,
      tracer,
      veil: veils.veil,
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

  /** Opens the stores of `config`, but waits for none that is away. @throws what a store was refused with */
  async open(config: BridgeConfig, signal: AbortSignal): Promise<void> {
    const before = this.#follows(config);
    await this.#leftRecords.release(config);
    await this.stores.open(config.stores, signal);
    this.#lookAgain(before);
  }

  /** The same for a configuration that has been in force: it is, whatever its stores say to that now. */
  async reopen(config: BridgeConfig): Promise<void> {
    const before = this.#follows(config);
    await this.#leftRecords.release(config);
    await this.stores.begin(config.stores);
    this.#lookAgain(before);
  }

  /** What nobody delivers: as it was when the stores were opened last, less what an operator has moved away since. */
  get undrained(): readonly OutboxBacklog[] {
    return this.#undrained;
  }

  /** A record was taken out of the outbox by an operator. */
  recordMoved({ routeId, bindingId }: OutboxRecord): void {
    const less = (line: OutboxBacklog): OutboxBacklog =>
      line.routeId === routeId && line.bindingId === bindingId ? { ...line, depth: line.depth - 1 } : line;
    this.#undrained = this.#undrained.map(less).filter(({ depth }) => depth > 0);
  }

  /**
   * What a change would leave behind. While a runtime delivers (`moving`), what is on its way does not count; each store
   * is waited for a few seconds at most.
   */
  stranding(
    change: { readonly from: BridgeConfig; readonly to: BridgeConfig; readonly moving: boolean },
    signal: AbortSignal,
  ): Promise<Stranding | undefined> {
    const { clock } = this.#options.seams;
    const options = { ...change, clock, outbox: this.stores.outbox(), dlq: this.stores.dlq() };
    return change.moving ? leftBehindByStandstill(options, signal) : leftBehind(options, signal);
  }

  /** `to` runs in the place of `from`: has brokers end what they keep for sessions that it has not. */
  leaveSessions(from: BridgeConfig, to: BridgeConfig): Promise<void> {
    const { registry, seams, instanceId, root } = this.#options;
    return leaveSessions({ ...seams, from, to, instanceId, registry }, root);
  }

  /** Parts of `config` are about to start. */
  starting(config: BridgeConfig, { links }: RuntimeParts): void {
    this.#sessionCounts.follow([...links.values()]);
    this.controls.limit(config);
  }

  /** `config` is in force: what it does not have is forgotten, where that loses no count. */
  follow(config: BridgeConfig): void {
    this.controls.follow(config);
    this.taps.follow(config);
    this.recent.legs.size = config.bridge.recentLegs;
    this.#sessionCounts.forget(config);
    this.#leaseCounts.follow(new Set(config.sessions.map(({ id }) => id)));
    this.#leftRecords.follow(config);
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
      hooks: this.hooks.stats,
      redrives: accounts.redrives,
      redriveFailures: accounts.redriveFailures,
      unaccounted: unaccounted(legs),
      jobs: this.jobTallies.read(),
    };
  }

  /**
   * Enters what an outbox holds when it is opened; from then on every record comes in and goes out through us. One that
   * is shared holds what others have in their books: of that we enter what ends here, when it does.
   */
  async #recover(store: OutboxStore, signal: AbortSignal): Promise<() => void> {
    const backlog = store.shared === true ? [] : await store.backlog(signal);
    return () => {
      for (const { routeId, bindingId, depth } of backlog) {
        this.accounts.leg(routeId, bindingId).recover(depth);
        this.#options.recovered(routeId, bindingId, depth);
      }
      this.#warnOfUndrained(store);
    };
  }

  /** The outbox that was open before `config` came. */
  #follows(config: BridgeConfig): OutboxStore | undefined {
    this.#served = config;
    this.#undrained = [];
    return this.stores.outbox();
  }

  /** One that stays open may hold what is delivered no more. */
  #lookAgain(before: OutboxStore | undefined): void {
    if (before !== undefined && before === this.stores.outbox()) this.#warnOfUndrained(before);
  }

  /** Beside everything else: nothing depends on it. */
  #warnOfUndrained(store: OutboxStore): void {
    const { seams, root } = this.#options;
    if (this.#served === undefined) return;
    const look = (this.#look = Symbol("look"));
    void warnOfUndrained(store, this.#served, seams, root).then((undrained) => {
      if (look === this.#look) this.#undrained = undrained;
    });
  }
}
