import { type BridgeConfig, elsewhereNow, whyElsewhere } from "@bridge/config";
import type { ConfigDepartures, StoredConfig } from "@bridge/ports";
import { asError } from "../as-error.ts";
import { couldStrand } from "../change/stranding.ts";

/** A document that messages came in under and that is stored no more, as a process before has remembered it. */
export type UnfinishedDeparture =
  /** To be run until nothing waits: then what is stored can be brought into force as any other change. */
  | { readonly former: StoredConfig; readonly config: BridgeConfig }
  /**
   * It cannot be run any more. `elsewhere`: its stores are other places here than where it ran, maybe because it was
   * another process that ran it.
   */
  | { readonly former: StoredConfig; readonly why: string; readonly elsewhere?: true };

/**
 * What a process has left that ended before what is stored was in force. `undefined` when there is nothing, when a start
 * with what is stored leaves nothing behind, or when other processes, which run, are leaving stores of their own.
 *
 * @param stored what is stored, or an empty configuration
 * @param check what a document comes to; rejects with why it cannot be run
 * @throws Error with the remedy when what is remembered cannot be read, and nothing else is to be run
 */
export async function unfinishedDeparture(
  departures: ConfigDepartures | undefined,
  stored: BridgeConfig,
  check: (former: StoredConfig) => Promise<BridgeConfig>,
  signal: AbortSignal,
): Promise<UnfinishedDeparture | undefined> {
  if (departures === undefined) return undefined;
  let other: UnfinishedDeparture | undefined;
  for await (const former of departures.find(signal)) {
    const found = await judged(former, stored, check).catch((error: unknown): UnfinishedDeparture => {
      signal.throwIfAborted();
      return { former, why: asError(error).message };
    });
    if (found === undefined) await departures.forget(signal, former);
    else if ("config" in found) return found;
    else if ((await departures.elsewhere?.(former, signal)) !== true) other ??= found;
  }
  return other;
}

/** `undefined`: what is stored leaves nothing of it behind. */
async function judged(
  former: StoredConfig,
  stored: BridgeConfig,
  check: (former: StoredConfig) => Promise<BridgeConfig>,
): Promise<UnfinishedDeparture | undefined> {
  const config = { ...(await check(former)), stored: former };
  const why = whyElsewhere(former, config.stores);
  // Elsewhere it would take in messages there, and those that wait would stay where they are.
  if (why === undefined) return couldStrand(config, stored) ? { former, config } : undefined;
  const isThere = elsewhereNow(former.places ?? {}, stored.stores).length === 0;
  const isLeft = !isThere || couldStrand({ ...config, stores: stored.stores }, stored);
  return isLeft ? { former, why, elsewhere: true } : undefined;
}
