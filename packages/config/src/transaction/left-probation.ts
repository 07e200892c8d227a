import type { Clock, ConfigStore, Hindrance, LeftProbation, Logger, Reversal, StoredConfig } from "@bridge/ports";
import { bounded } from "./commit-parts.ts";
import { CommitHistory } from "./commit-history.ts";
import { endNoted, keepLeft } from "./keep-left.ts";
import { leftStoresOf } from "./left-stores.ts";
import type { StoresOf } from "./named-stores.ts";
import type { OnProbation, Reverted } from "./on-probation.ts";
import { entryOf } from "./probation-entry.ts";
import { messageOf } from "./probation-refusals.ts";
import { noteTakenBack } from "./taking-back.ts";

/** What a start takes back, and cannot store again yet. */
export interface TakenBack {
  readonly takenBack: OnProbation;
  readonly reversal: Reversal;
  /** Why not. */
  readonly hindrance: Hindrance;
}

/**
 * What a start has found of a probation: it goes on, or the former document is stored again, or runs until it can be.
 */
export type SettledProbation = { readonly goesOn: OnProbation } | { readonly reverted: Reverted } | TakenBack;

/** What it takes to settle a probation that another process has left. */
export interface SettlingSeams {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly storesOf: StoresOf;
}

/** Stores the former document again, as far as it is not, and says so in the history. */
export async function putBack(
  found: LeftProbation,
  reversal: Reversal,
  store: ConfigStore,
  { clock, logger, storesOf }: SettlingSeams,
): Promise<SettledProbation> {
  const { probation, former, current, tried } = found;
  const { version, formerVersion, actor } = probation;
  const at = clock.now();
  // A process that has died before the former one ran was asked by nobody what its stores hold.
  const left =
    tried === undefined || probation.emptied === true
      ? undefined
      : await leftStoresOf(tried, await storesOf(former.document), storesOf);
  const leftStores = left?.leftStores ?? [];
  const history = new CommitHistory(store, clock, logger);
  const entry = await entryOf(probation, history, at);
  if (current !== undefined) {
    await noteTakenBack(probation, reversal, { store, clock });
    const hindrance = found.hindered ?? (await restored(former, current, store, clock));
    if (hindrance !== undefined) {
      const takenBack = { probation, base: former, tried: { stored: tried ?? current }, entry, left };
      return { takenBack, reversal, hindrance };
    }
  }
  const isKept = tried === undefined || (await keepLeft(tried, leftStores, { store, clock, logger }));
  await history.revert({ reverted: { at, ...reversal }, ...entry });
  if (isKept) await endNoted(version, { store, clock, logger });
  logger.error("a configuration on probation was taken back at the start: the former one runs", {
    config_version: version,
    former_version: formerVersion,
    why: reversal.why,
    ...(leftStores.length > 0 && { left_stores: leftStores.join(", ") }),
  });
  return {
    reverted: {
      ...reversal,
      version,
      formerVersion,
      actor,
      at,
      ...(leftStores.length > 0 && left),
      ...(!isKept && { unkept: tried }),
    },
  };
}

/** Resolves to why it cannot be done. */
async function restored(
  former: StoredConfig,
  current: StoredConfig,
  store: ConfigStore,
  clock: Clock,
): Promise<Hindrance | undefined> {
  let isStored: boolean;
  try {
    isStored = await bounded(clock, (signal) => store.restore(former, current, signal));
  } catch (error) {
    return { unwritable: messageOf(error) };
  }
  if (!isStored) throw new Error("another hand has written meanwhile");
  return undefined;
}
