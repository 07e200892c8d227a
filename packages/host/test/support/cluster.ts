/** Instances of a bridge that share a document, and die when a test says so. What they carry is left out. @module */
import {
  type BridgeConfig,
  type CommitResult,
  type ConfigTransactions,
  createConfigTransactions,
  createRegistry,
} from "@bridge/config";
import { createSupervisor } from "@bridge/core";
import {
  type Clock,
  type ConfigStaging,
  type ConfigStore,
  silentLogger,
  type StagedConfig,
  systemClock,
  systemRandom,
} from "@bridge/ports";
import { ConfigFollower } from "../../src/config-follower.ts";
import { storeOrigin } from "../../src/config-origin.ts";
import { ConfigSource } from "../../src/config-source.ts";

const NEVER = new AbortController().signal;
const registry = createRegistry({});
const sources = { env: () => undefined, file: () => Promise.reject(new Error("it is not there")) };

/** A document that is told from others by the id of its bridge; one that begins with `bad` cannot be applied. */
export function documentOf(id: string): Readonly<Record<string, unknown>> {
  return { config_version: 1, bridge: { id } };
}

/** Where in a commit a process ends. */
export type Death = "while applying" | "before confirming" | "after confirming";

/** What all instances see, and what the test knows of it. */
export interface Shared {
  /** Another store on the document, as another process would have it. */
  readonly open: () => Promise<ConfigStore>;
  /** Milliseconds that the clocks of all instances have been put forward. */
  forward: number;
  /** What somebody has stored, or is about to: nobody else may run anything before that. */
  readonly released: Set<string>;
  /** What should not have happened. */
  readonly faults: string[];
  /** Is awaited before each call of a store, so that calls of several instances come in any order. */
  readonly pause: () => Promise<void>;
}

/** One process, from its start to its death. */
export class Instance {
  readonly name: string;
  /** What it has run, the last one being what it runs. */
  readonly ran: string[] = [];
  readonly transactions: ConfigTransactions;
  readonly #follower: ConfigFollower;
  readonly #store: ConfigStore;
  readonly #death: AbortController;
  readonly #shared: Shared;
  /** A supervisor serves one request at a time, in the order of asking. */
  #turns: Promise<unknown> = Promise.resolve();
  #dies: Death | undefined;
  /** What its own commit tries out. */
  #tries: string | undefined;

  static async start(name: string, shared: Shared): Promise<Instance> {
    const death = new AbortController();
    const store = await shared.open();
    // As a start reads it; what cannot be run is refused.
    const source = new ConfigSource({
      origin: storeOrigin(store, sources),
      registry,
      clock: systemClock,
      logger: silentLogger,
    });
    const judged = await source.read(NEVER);
    if (!judged.ok) throw new Error(judged.error);
    return new Instance(name, shared, store, source, judged.config, death);
  }

  private constructor(
    name: string,
    shared: Shared,
    store: ConfigStore,
    source: ConfigSource,
    config: BridgeConfig,
    death: AbortController,
  ) {
    this.name = name;
    this.#shared = shared;
    this.#death = death;
    this.#store = store;
    this.#mortal(store);
    const clock: Clock = {
      ...systemClock,
      now: () => systemClock.now() + shared.forward,
      delay: (ms, signal) => systemClock.delay(ms, AbortSignal.any([signal, death.signal])),
    };
    const supervisor = createSupervisor({ config, registry });
    const apply = (next: BridgeConfig, signal: AbortSignal) => this.#inTurn(next, signal);
    const applier = {
      apply,
      beyondRecovery: () => supervisor.beyondRecovery(),
      plan: (next: BridgeConfig, signal: AbortSignal) => supervisor.plan(next, signal),
      stranding: () => Promise.resolve(undefined),
      view: () => supervisor.view(),
    };
    const seams = { clock, random: systemRandom(), logger: silentLogger };
    this.transactions = createConfigTransactions({ ...seams, store, registry, sources, applier, instanceId: name });
    const { transactions } = this;
    this.#follower = new ConfigFollower({ ...seams, source, supervisor: applier, transactions, keys: () => {} });
    this.#run(config);
    this.#follower.start();
  }

  /** Commits a change of the id of the bridge; resolves also when the process dies of it. */
  async commit(id: string, dies?: Death): Promise<CommitResult["status"] | "refused" | "died"> {
    try {
      const { id: transaction } = await this.transactions.open(60_000, NEVER);
      await this.transactions.patch(transaction, { bridge: { id } }, NEVER);
      this.#dies = dies;
      this.#tries = id;
      const { status } = await this.transactions.commit(transaction, "alice");
      return this.#death.signal.aborted ? "died" : status;
    } catch {
      return this.#death.signal.aborted ? "died" : "refused";
    } finally {
      this.#dies = this.#tries = undefined;
    }
  }

  get alive(): boolean {
    return !this.#death.signal.aborted;
  }

  reload(): void {
    this.#follower.reload();
  }

  /** Everything that it still does comes to nothing. */
  async kill(): Promise<void> {
    this.#death.abort(new Error("the process is dead"));
    const { watch, rollout } = this.#follower.stop();
    await Promise.allSettled([watch, rollout]);
    await this.#store[Symbol.asyncDispose]();
  }

  #inTurn(config: BridgeConfig, signal: AbortSignal): Promise<"applied"> {
    const applied = this.#turns.then(() => this.#apply(config, signal));
    this.#turns = applied.catch(() => {});
    return applied;
  }

  async #apply(config: BridgeConfig, signal: AbortSignal): Promise<"applied"> {
    await this.#shared.pause();
    signal.throwIfAborted();
    if (this.#dies === "while applying") this.#death.abort(new Error("the process died"));
    this.#death.signal.throwIfAborted();
    if (config.bridge.id.startsWith("bad")) throw new Error("its target cannot be opened");
    this.#run(config);
    return "applied";
  }

  #run({ bridge: { id } }: BridgeConfig): void {
    const { released, faults } = this.#shared;
    if (!released.has(id) && id !== this.#tries) faults.push(`${this.name} runs ${id}, which nobody has confirmed`);
    this.ran.push(id);
  }

  /** Makes every call of `store` one that other processes come in between of, and that the dead do not make. */
  #mortal(store: ConfigStore): void {
    const { staging, history } = store;
    if (staging === undefined || history === undefined) throw new Error("the store has both");
    const load = store.load.bind(store);
    store.load = (signal) => this.#call(() => load(signal));
    const mortal: ConfigStaging = {
      get seen() {
        return staging.seen;
      },
      look: (signal) => this.#call(() => staging.look(signal)),
      stage: (...request) => this.#call(() => staging.stage(...request)),
      confirm: (staged, signal) => this.#call(() => this.#confirm(staging, staged, signal)),
      discard: (staged, signal) => this.#call(() => staging.discard(staged, signal)),
    };
    const mortalHistory = {
      append: (...entry: Parameters<typeof history.append>) => this.#call(() => history.append(...entry)),
      list: (signal: AbortSignal) => this.#call(() => history.list(signal)),
    };
    Object.defineProperty(store, "staging", { value: mortal });
    Object.defineProperty(store, "history", { value: mortalHistory });
  }

  async #confirm(staging: ConfigStaging, staged: StagedConfig, signal: AbortSignal): Promise<boolean> {
    if (this.#dies === "before confirming") this.#death.abort(new Error("the process died"));
    this.#death.signal.throwIfAborted();
    const id = this.#tries ?? "";
    const { released } = this.#shared;
    released.add(id);
    const confirmed = await staging.confirm(staged, signal);
    if (!confirmed) released.delete(id);
    if (this.#dies === "after confirming") this.#death.abort(new Error("the process died"));
    return confirmed;
  }

  async #call<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#shared.pause();
    this.#death.signal.throwIfAborted();
    const result = await work();
    this.#death.signal.throwIfAborted();
    return result;
  }
}
