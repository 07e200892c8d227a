import {
  type BridgeConfig,
  keepLeft,
  type LeftBehind,
  leftByDeparture,
  type Registry,
  type StoresOf,
} from "@bridge/config";
import { unfinishedDeparture, type UnfinishedDeparture } from "@bridge/core";
import type { ConfigDepartures, ConfigStore, Seams, StoredConfig } from "@bridge/ports";
import { patientDeadline } from "@bridge/ports/internal";
import type { ConfigSource } from "./config-source.ts";
import { messageOf } from "./message-of.ts";

const TIMEOUT_MS = 30_000;
/** Nothing is the matter with it. */
const ON_PROBATION = "it was on probation";

/** What a start has found of what a process before was leaving; `unread`: why nobody knows. */
export type FoundDeparture = UnfinishedDeparture | { readonly unread: string } | undefined;

interface Start {
  readonly source: ConfigSource;
  readonly registry: Registry;
  /** What is stored. */
  readonly stored: BridgeConfig;
  /** Whether a probation was found: then it is settled what runs. */
  readonly settled: boolean;
}

/**
 * What the process before was leaving when it ended: to be run first, until nothing waits there. Rejects only with the
 * signal's reason; what cannot be read is logged.
 */
export async function formerConfiguration(
  { source, registry, stored, settled }: Start,
  { clock, logger }: Seams,
  signal: AbortSignal,
): Promise<FoundDeparture> {
  using bound = patientDeadline(clock, TIMEOUT_MS, new Error("the former configuration could not be read in 30 s"));
  const either = AbortSignal.any([signal, bound.signal]);
  const check = async (former: StoredConfig): Promise<BridgeConfig> => {
    const checked = await source.origin.check(former, registry, either);
    if (!checked.ok) throw new Error(checked.problems[0]);
    return checked.config;
  };
  try {
    const left = await unfinishedDeparture(source.store.departures, stored, check, either);
    if (left === undefined || !settled || "elsewhere" in left) return left;
    return { former: left.former, why: ON_PROBATION };
  } catch (error) {
    signal.throwIfAborted();
    const unread = messageOf(error);
    logger.error("whether the process before was leaving stores that are not empty is not known: what is stored runs", {
      error: unread,
    });
    return { unread };
  }
}

/** A former configuration that is not run, though messages may wait in its stores. */
export interface LeftFormer {
  /** `undefined` when what is stored has the same stores. */
  readonly leftBehind: LeftBehind | undefined;
  /** What is stored runs: the former document is kept among others, and nobody will try it again. Never rejects. */
  readonly running: () => Promise<void>;
  /** The store's: what says what was left is neither replaced nor forgotten as long as that is kept nowhere else. */
  readonly departures: ConfigDepartures | undefined;
}

/** Tells that it is not run, and why. */
export async function leaveFormer(
  { former, why }: { readonly former: StoredConfig; readonly why: string },
  stored: BridgeConfig,
  store: ConfigStore,
  { clock, logger, storesOf }: Pick<Seams, "clock" | "logger"> & { readonly storesOf: StoresOf },
): Promise<LeftFormer> {
  const leftBehind = await leftByDeparture(former, stored, why === ON_PROBATION ? undefined : why, storesOf);
  if (leftBehind !== undefined)
    logger.error("messages may be left behind: the former configuration is not run again", {
      config_version: former.version,
      left_stores: leftBehind.leftStores.join(", "),
      error: why,
    });
  let isKept = leftBehind === undefined;
  const demandKept = async (): Promise<void> => {
    isKept ||= leftBehind !== undefined && (await keepLeft(former, leftBehind.leftStores, { store, clock, logger }));
    if (!isKept)
      throw new Error(
        `what version ${former.version} has left in its stores is said nowhere else: see that the folder of former versions can be written`,
      );
  };
  const running = async (): Promise<void> => {
    using bound = patientDeadline(clock, TIMEOUT_MS, new Error("the store of the configuration did not answer"));
    try {
      await demandKept();
      await store.departures?.forget(bound.signal, former);
    } catch (error) {
      logger.warn("the next start tries the former configuration again", { error: messageOf(error) });
    }
  };
  // Until what is stored runs.
  const told = leftBehind && { ...leftBehind, ...(store.versions?.left !== undefined && { isKept: false as const }) };
  return { leftBehind: told, running, departures: store.departures && guarded(store.departures, former, demandKept) };
}

function guarded(departures: ConfigDepartures, left: StoredConfig, demandKept: () => Promise<void>): ConfigDepartures {
  const forgetLeft = async (signal: AbortSignal): Promise<void> => {
    await demandKept();
    await departures.forget(signal, left);
  };
  return {
    find: (signal) => departures.find(signal),
    elsewhere: async (found, signal) => (await departures.elsewhere?.(found, signal)) === true,
    async remember(former, signal, places) {
      await forgetLeft(signal);
      await departures.remember(former, signal, places);
    },
    async forget(signal) {
      await forgetLeft(signal);
      await departures.forget(signal);
    },
  };
}
