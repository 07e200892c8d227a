import type { Probation, StagedConfig } from "@bridge/ports";

/** What is known of a configuration source that is watched (spec 2.6, contract §4). */
export interface ConfigWatch {
  /** Where the configuration comes from: a path, or an item of a store. */
  readonly source: string;
  readonly version: number;
  /** Epoch milliseconds. */
  readonly lastReloadAt?: number | undefined;
  /** Since when what may be newer is read, checked and brought into force; epoch milliseconds. Absent: nothing is. */
  readonly reloadingSince?: number | undefined;
  readonly lastError?: string | undefined;
  /** The part of the document that was accepted and applies only after a restart. */
  readonly restartRequired?: string | undefined;
  /** What is taken back unless it is confirmed. */
  readonly probation?: Probation | undefined;
  /** What an instance tries out, or has left behind; it runs nowhere else. */
  readonly staged?: Pick<StagedConfig, "version" | "by" | "at" | "until"> | undefined;
}
