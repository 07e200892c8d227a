import type { StorePlaces, StoredConfig } from "./stored-config.ts";

/**
 * Remembers a document that is stored no more, or soon will not be, while messages that came in under it may wait where what is stored
 * delivers and sees nothing.
 */
export interface ConfigDepartures {
  /**
   * Durable when it resolves; takes the place of what was remembered. `former` comes from this store in this process.
   * @param places where its stores are, as far as that is known; else what its references name counts
   * @throws Error with the remedy when something is remembered already that does not come from this process
   */
  remember(former: StoredConfig, signal: AbortSignal, places: StorePlaces): Promise<void>;
  /**
   * Durable when it resolves; does nothing when nothing is remembered, or something else.
   * @param found what {@link find} has told. Default: what this process has remembered
   */
  forget(signal: AbortSignal, found?: StoredConfig): Promise<void>;
  /** What is remembered, with `places`. @throws Error with the remedy when that cannot be read, or is not as it was remembered */
  find(signal: AbortSignal): Promise<StoredConfig | undefined>;
  /**
   * Whether another process that runs on the same document has remembered something, and goes on leaving it. Where that
   * cannot be known it resolves to `false`. Absent: it never can be.
   */
  elsewhere?(signal: AbortSignal): Promise<boolean>;
}
