import type { StorePlaces, StoredConfig } from "./stored-config.ts";

/**
 * Remembers a document that is stored no more, or soon will not be, while messages that came in under it may wait where what is stored
 * delivers and sees nothing.
 */
export interface ConfigDepartures {
  /**
   * Durable when it resolves; takes the place of what this process has remembered. `former` comes from this store in this process.
   * What other processes have remembered of stores at other places stays beside it.
   * @param places where its stores are, as far as that is known; else what its references name counts
   * @throws Error with the remedy when something is remembered already that does not come from this process, and may be of these places
   */
  remember(former: StoredConfig, signal: AbortSignal, places: StorePlaces): Promise<void>;
  /**
   * Durable when it resolves; does nothing when nothing is remembered, or something else.
   * @param found what {@link find} has told. Default: what this process has remembered
   */
  forget(signal: AbortSignal, found?: StoredConfig): Promise<void>;
  /**
   * All that is remembered, with `places`: one for each set of places.
   * @throws Error with the remedy, after all that can be read, when something cannot be, or is not as it was remembered
   */
  find(signal: AbortSignal): AsyncIterable<StoredConfig>;
  /**
   * Whether another process that runs on the same document has remembered what {@link find} has told, and goes on leaving it.
   * Where that cannot be known it resolves to `false`. Absent: it never can be.
   */
  elsewhere?(found: StoredConfig, signal: AbortSignal): Promise<boolean>;
}
