import type { Clock, ConfigStore, StagedConfig, StoredConfig } from "@bridge/ports";
import { bounded } from "./commit-parts.ts";

/** Where a version is while it is on probation: stored, or staged where instances share the document. */
export type TriedDocument =
  | { readonly stored: StoredConfig }
  | { readonly staged: StagedConfig; readonly document: StoredConfig["document"] };

/**
 * What stands where a version on probation was written. A document that is away, or could not be run, is nobody's yet.
 */
export type Standing = "tried" | "another" | { readonly unreadable: string };

/** Never rejects. */
export async function standingOf(
  tried: TriedDocument,
  store: ConfigStore,
  clock: Clock,
  isUsable: (stored: StoredConfig) => Promise<boolean>,
): Promise<Standing> {
  try {
    if ("staged" in tried) {
      const staged = await bounded(clock, async (signal) => store.staging?.look(signal));
      return staged?.revision === tried.staged.revision ? "tried" : "another";
    }
    const stored = await bounded(clock, (signal) => store.load(signal));
    if (stored === undefined) return { unreadable: `${store.source} is not there` };
    if (stored.revision === tried.stored.revision) return "tried";
    return (await isUsable(stored)) ? "another" : { unreadable: `${store.source} holds what is no configuration` };
  } catch (error) {
    return { unreadable: error instanceof Error ? error.message : String(error) };
  }
}

/** Whether `seen`, which costs nothing to ask, is something else. */
export function seemsAnother(tried: TriedDocument, store: ConfigStore): boolean {
  if ("staged" in tried) return store.staging?.seen?.revision !== tried.staged.revision;
  return store.seen !== tried.stored.revision;
}
