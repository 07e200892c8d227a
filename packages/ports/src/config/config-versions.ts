import type { ConfigLeftVersions } from "./config-left-versions.ts";
import type { StoredConfig } from "./stored-config.ts";

/** Documents that were stored, and then replaced by a write or by a confirmation; the newest 20. */
export interface ConfigVersions {
  /** The versions of which there is one, the newest first. */
  list(signal: AbortSignal): Promise<readonly number[]>;
  /** What was stored as `version` last, as from `ConfigStore.load`; `undefined` when it is not kept. */
  load(version: number, signal: AbortSignal): Promise<StoredConfig | undefined>;
  /** Keeps a document that was taken back, to be mended; this store has loaded, written or staged it. */
  keepReverted(reverted: Pick<StoredConfig, "version" | "document">, signal: AbortSignal): Promise<void>;
  /** Absent: what is left in stores is known to a process as long as that lasts. */
  readonly left?: ConfigLeftVersions;
}
