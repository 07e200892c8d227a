import { type BridgeConfig, whyElsewhere } from "@bridge/config";
import type { ConfigDepartures, StoredConfig } from "@bridge/ports";
import { asError } from "../as-error.ts";
import { couldStrand } from "../change/stranding.ts";

/** A document that messages came in under and that is stored no more, as the process before has remembered it. */
export type UnfinishedDeparture =
  /** To be run until nothing waits: then what is stored can be brought into force as any other change. */
  | { readonly former: StoredConfig; readonly config: BridgeConfig }
  /** It cannot be run any more. */
  | { readonly former: StoredConfig; readonly why: string };

/**
 * What a process has left that ended before what is stored was in force. `undefined` when there is nothing, when a start
 * with what is stored leaves nothing behind, or when another process, which runs, is leaving stores of its own.
 *
 * @param stored what is stored, or an empty configuration
 * @param check what a document comes to; rejects with why it cannot be run
 * @throws Error with the remedy when what is remembered cannot be read
 */
export async function unfinishedDeparture(
  departures: ConfigDepartures | undefined,
  stored: BridgeConfig,
  check: (former: StoredConfig) => Promise<BridgeConfig>,
  signal: AbortSignal,
): Promise<UnfinishedDeparture | undefined> {
  const former = await departures?.find(signal);
  if (former === undefined) return undefined;
  try {
    const config = { ...(await check(former)), stored: former };
    // Then it would take in messages elsewhere, and those that wait would stay where they are.
    const why = whyElsewhere(former, config.stores);
    if (why !== undefined) return (await departures?.elsewhere?.(signal)) ? undefined : { former, why };
    if (couldStrand(config, stored)) return { former, config };
  } catch (error) {
    signal.throwIfAborted();
    return { former, why: asError(error).message };
  }
  await departures?.forget(signal, former);
  return undefined;
}
