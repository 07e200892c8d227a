import type { StorePlaces, StoredConfig } from "./stored-config.ts";

/** A store of messages that a document may name. */
export type LeftStore = "outbox" | "dlq";

/** A former document with stores in which messages may wait that nobody delivers or sees. */
export interface LeftVersion {
  readonly version: number;
  /** At least one. */
  readonly stores: readonly LeftStore[];
  /** Where they were, as it was kept. */
  readonly places?: StorePlaces;
  /** For people. */
  readonly where: string;
  /**
   * As from `ConfigStore.load`, and whether somebody has changed it since it was kept; or why it cannot be read, without quoting
   * it.
   */
  readonly kept: { readonly stored: StoredConfig; readonly changed?: true } | { readonly unreadable: string };
}

/** Former documents that have left something in their stores: the newest 20 of them at least, beside the others, and over restarts. */
export interface ConfigLeftVersions {
  /** The newest first; those beyond the newest 20 may be listed as unreadable. */
  list(signal: AbortSignal): Promise<readonly LeftVersion[]>;
  /**
   * Keeps a document that comes from this store in this process, durably: `ConfigVersions.load` finds it by its version before any
   * other. What it has left already stays so. With its `places`, as far as it has any: the same document that was elsewhere is another one.
   */
  keep(left: StoredConfig, stores: readonly LeftStore[], signal: AbortSignal): Promise<void>;
  /** Of one that was listed only `stores` are left; of none, it is kept as any that was taken back. */
  narrow(left: LeftVersion, stores: readonly LeftStore[], signal: AbortSignal): Promise<void>;
}
