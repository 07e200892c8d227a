import type { ConfigStore, StoredConfig } from "@bridge/ports";
import { valueAt } from "../check/value-at.ts";
import type { BridgeConfig } from "../model.ts";
import type { ConfigApplier } from "./applier.ts";
import { movedStores } from "./moved-stores.ts";
import type { StoredDocuments } from "./stored-documents.ts";
import { type Stranded, type Stranding, strandingOf } from "./stranding.ts";

interface Change {
  /** What is stored. */
  readonly base: StoredConfig;
  /** What is to take its place. */
  readonly config: BridgeConfig;
}

interface Parts {
  readonly store: Pick<ConfigStore, "staging">;
  readonly documents: Pick<StoredDocuments, "check" | "storesOf">;
  readonly applier: ConfigApplier | undefined;
}

/**
 * What a change would be refused for, because messages would be left behind: by what runs here, and, where instances
 * share the document, by what is stored. Another instance may run that, before this one has taken it up or although
 * this one cannot; when that instance ends, nobody would open the stores again that the change leaves. What is kept in
 * a file nobody else runs.
 */
export async function wouldStrand(
  { base, config }: Change,
  { store, documents, applier }: Parts,
  signal: AbortSignal,
): Promise<Stranding | undefined> {
  if (applier === undefined) return undefined;
  if (store.staging === undefined) return applier.stranding(config, signal);
  const { version } = base;
  const stored = await documents.check(base.document, signal);
  if (stored.ok) return applier.stranding(config, signal, { ...stored.config, configVersion: version });
  const own = await applier.stranding(config, signal);
  if (own !== undefined) return own;
  // What is not valid here may be elsewhere, where a secret is that this instance has not.
  const isAbandoned = (role: Stranded["store"]): boolean =>
    config.abandonBacklog?.includes(role) === true &&
    valueAt(base.document, ["stores", role, "abandon_backlog"]) !== true;
  const left = movedStores(config.stores, await documents.storesOf(base.document)).filter((role) => !isAbandoned(role));
  return left.length === 0 ? undefined : strandingOf(left.map((role) => ({ store: role, version })));
}
