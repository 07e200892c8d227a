import type { Reversal } from "./probation.ts";

export interface ConfigHistory {
  /**
   * If an entry is pending whose version is at most that of `entry`, `entry` takes its place. One of a higher version stays: another
   * instance has begun it since. An entry of the same version and time is taken for the same one: `entry` takes its place, too.
   */
  append(entry: ConfigHistoryEntry, signal: AbortSignal): Promise<void>;
  /** The highest version first; of one version, what was appended last. */
  list(signal: AbortSignal): Promise<readonly ConfigHistoryEntry[]>;
}

/** One committed change, for whoever asks what happened to a configuration. Holds no secret. */
export interface ConfigHistoryEntry {
  readonly version: number;
  /** Epoch milliseconds. */
  readonly committedAt: number;
  /** The name of the admin key that committed it. */
  readonly actor: string;
  /** One entry for each value that changed; secrets and plugin options are redacted. */
  readonly changes: readonly ConfigHistoryChange[];
  /**
   * Whether what became of the change is not known yet: an entry is appended as pending before the document is written,
   * and once more, without this, when its version is known to be what runs or will run. A pending entry whose version is
   * in the store tells the next start that this version never ran, as far as is known.
   */
  readonly pending?: true;
  /** That it was taken back after it had run, when (epoch milliseconds), and why. */
  readonly reverted?: Reversal & { readonly at: number };
}

export interface ConfigHistoryChange {
  /** Such as `routes[alarms].policy.max_in_flight`. */
  readonly path: string;
  /** Absent when the value is new. */
  readonly before?: unknown;
  /** Absent when the value was removed. */
  readonly after?: unknown;
}
