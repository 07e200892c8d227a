import type { StoredConfig } from "./stored-config.ts";

/**
 * Remembers a document that is stored no more, or soon will not be, while messages that came in under it may wait where what is stored
 * delivers and sees nothing.
 */
export interface ConfigDepartures {
  /** Durable when it resolves; takes the place of what was remembered. `former` comes from this store in this process. */
  remember(former: StoredConfig, signal: AbortSignal): Promise<void>;
  /** Durable when it resolves; does nothing when nothing is remembered. */
  forget(signal: AbortSignal): Promise<void>;
  /** What is remembered. @throws Error with the remedy when that cannot be read */
  find(signal: AbortSignal): Promise<StoredConfig | undefined>;
}
