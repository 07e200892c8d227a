import {
  type BridgeConfig,
  checkDocument,
  type ConfigTransactions,
  createConfigTransactions,
  type ConfigTransactionsOptions,
  keepLeft,
  keptLeftovers,
  type LeftBehind,
  leftByDeparture,
  namedStores,
  settleProbation,
  type StoresOf,
} from "@bridge/config";
import { unfinishedDeparture, type UnfinishedDeparture } from "@bridge/core";
import type { ConfigStore, Seams, StoredConfig } from "@bridge/ports";
import { deadline, orAborted, Slices } from "@bridge/ports/internal";
import { NEVER } from "../model/dlq-parts.ts";
import { documentStore } from "../model/document-store.ts";
import { Follower, NO_SOURCES } from "./follower.ts";
import type { Instance } from "./instance.ts";
import type { World } from "./world.ts";

/** How long a start waits for the document, and the last look before an end. */
const READ_MS = 30_000;
const LOOK_MS = 5_000;
/** What is on probation at a start goes on at least so long. */
const LEAST_LEFT_MS = 60_000;

/** What a start has found. */
interface Found extends Pick<ConfigTransactionsOptions, "settled" | "leftBehind"> {
  /** Whether it runs first what the process before was leaving. */
  readonly resumes: boolean;
  readonly first: BridgeConfig;
}

/** The part of a process that keeps its engine on a document, and serves those who change it. */
export class Configured {
  readonly transactions: ConfigTransactions;
  readonly follower: Follower;
  readonly store: ConfigStore;
  readonly #instance: Instance;
  readonly #resumes: boolean;
  /** What its engine starts with. */
  readonly #first: BridgeConfig;

  /** In the order of a real start: what is on probation is settled before the document is read. `undefined`: it cannot be run. */
  static async start(world: World, instance: Instance): Promise<Configured | undefined> {
    const store = documentStore(world.document, instance.owner, instance.clock);
    const read = (instead?: StoredConfig) => runnable(store, instance, READ_MS, instead);
    const { registry, seams } = instance;
    const settling = { ...seams, storesOf: namedStores({ registry, sources: NO_SOURCES, ...seams }) };
    const { settled, configuration: config } = await settleProbation(store, settling, read);
    if (config === undefined) return undefined;
    const { note } = world.document;
    const isOthers = world.document.noteLock.isHeldBeside(instance.owner);
    if (settled === undefined && note !== undefined && !isOthers) world.auditor.documents.stays(note.probation.version);
    const left = await leftBefore(store, instance, config);
    const resumes = left !== undefined && "config" in left && settled === undefined;
    const first = resumes ? left.config : config;
    instance.create(first, store.departures);
    if (resumes) await instance.supervisor.announce(config).catch(() => {});
    const before = await keptLeftovers({ store, ...settling });
    const leftBehind = [left && !resumes ? await leave(left.former, config, store, settling) : [], before].flat();
    return new Configured(world, instance, store, { settled, leftBehind, resumes, first });
  }

  private constructor(
    world: World,
    instance: Instance,
    store: ConfigStore,
    { settled, leftBehind, resumes, first }: Found,
  ) {
    this.#instance = instance;
    this.#resumes = resumes;
    this.#first = first;
    const { registry, seams, supervisor, owner, name } = instance;
    const { clock } = seams;
    this.store = store;
    // What replaces a route that is paused runs.
    const apply = (config: BridgeConfig, signal?: AbortSignal): Promise<"applied" | "accepted"> => {
      owner.paused = false;
      return supervisor.apply(config, signal);
    };
    const applier = {
      apply,
      announce: (config: BridgeConfig) => supervisor.announce(config),
      trial: supervisor.trial,
      beyondRecovery: () => supervisor.beyondRecovery(),
      plan: (config: BridgeConfig, signal: AbortSignal) => supervisor.plan(config, signal),
      stranding: (config: BridgeConfig, signal?: AbortSignal, stored?: BridgeConfig) =>
        supervisor.stranding(config, signal, stored),
    };
    const sources = NO_SOURCES;
    const instanceId = name;
    const onNotInForce = (): void => this.follower.reload();
    this.transactions = createConfigTransactions({
      ...seams,
      store,
      registry,
      sources,
      applier,
      instanceId,
      settled,
      leftBehind,
      startsWith: first,
      onNotInForce,
    });
    const { transactions } = this;
    const left = transactions.probation();
    if (left !== undefined && transactions.withdrawn() === undefined)
      world.auditor.documents.goesOn(left.version, LEAST_LEFT_MS);
    this.follower = new Follower({ store, registry, clock, apply, transactions });
  }

  /** Its engine runs, or tries to. */
  begin(): void {
    this.transactions.started(this.#first);
    this.follower.start();
    if (this.#resumes) this.follower.reload();
  }

  /** Why what is stored is not in force, as far as an operator of this instance is told. */
  get told(): string | undefined {
    return this.follower.error ?? this.transactions.notApplied()?.error;
  }

  /** Before an orderly end: what it runs is remembered, if another hand has stored what could leave messages behind. */
  async lastLook(): Promise<void> {
    if (this.store.departures === undefined) return;
    const next = await runnable(this.store, this.#instance, LOOK_MS);
    if (next !== undefined) await this.#instance.supervisor.announce(next).catch(() => {});
  }

  /** The process ends in order; its engine has. */
  async end(): Promise<void> {
    await this.transactions.suspend();
  }
}

/** What is stored, or is to run `instead`, unless that cannot be run, or not be read in time. */
async function runnable(
  store: ConfigStore,
  { registry, clock }: Instance,
  mostMs: number,
  instead?: StoredConfig,
): Promise<BridgeConfig | undefined> {
  using bound = deadline(clock, mostMs, new Error("the document could not be read"));
  try {
    const stored = instead ?? (await orAborted(store.load(bound.signal), bound.signal));
    if (stored === undefined) return undefined;
    const checked = await checkDocument(stored.document, registry, NO_SOURCES, bound.signal, new Slices(clock));
    return checked.ok ? { ...checked.config, stored } : undefined;
  } catch {
    return undefined;
  }
}

/** What the process before was leaving when it ended. */
async function leftBefore(
  { departures }: ConfigStore,
  { registry, clock }: Instance,
  config: BridgeConfig,
): Promise<UnfinishedDeparture | undefined> {
  using bound = deadline(clock, READ_MS, new Error("what is remembered could not be read"));
  const { signal } = bound;
  const check = async ({ document }: StoredConfig): Promise<BridgeConfig> => {
    const checked = await checkDocument(document, registry, NO_SOURCES, signal, new Slices(clock));
    if (!checked.ok) throw new Error("the former document is not valid");
    return checked.config;
  };
  return await orAborted(unfinishedDeparture(departures, config, check, signal), signal).catch(() => undefined);
}

/** A probation has found what is to run: what else was left is told. */
async function leave(
  former: StoredConfig,
  config: BridgeConfig,
  store: ConfigStore,
  { storesOf, ...seams }: Seams & { readonly storesOf: StoresOf },
): Promise<readonly LeftBehind[]> {
  const left = await leftByDeparture(former, config, "it was on probation", storesOf);
  if (left === undefined || (await keepLeft(former, left.leftStores, { store, ...seams })))
    await store.departures?.forget(NEVER, former).catch(() => {});
  return left === undefined ? [] : [left];
}
