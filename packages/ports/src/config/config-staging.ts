import type { StoredConfig } from "./stored-config.ts";

/** A document that the instance which commits it tries out. */
export interface StagedConfig {
  /** That it will have. */
  readonly version: number;
  /** That it will have. */
  readonly revision: string;
  /** Names the instance. */
  readonly by: string;
  /** Epoch milliseconds, by the clock of that instance. */
  readonly at: number;
  /** Of one that is on probation there: when that ends. */
  readonly until?: number;
}

export interface StagingRequest extends Pick<StagedConfig, "by" | "at" | "until"> {
  /** Epoch milliseconds: what another instance staged earlier than this, or was to end earlier, was left behind, and is replaced. */
  readonly leftBehindBefore: number;
}

/**
 * Lets an instance try a document out before any other has to run it. What is staged lies beside what is stored: nobody
 * loads it, and no watch tells it, until it is confirmed. An instance that ends meanwhile leaves it behind, to no effect.
 *
 * One document is staged at a time, and every step is a compare-and-set. Writing, restoring and any other hand's change of
 * what is stored take away what is staged.
 */
export interface ConfigStaging {
  /** What was staged when this store last looked, for whatever reason. */
  readonly seen: StagedConfig | undefined;
  /** What is staged now. */
  look(signal: AbortSignal): Promise<StagedConfig | undefined>;
  /**
   * Stages `document` as version `expected.version + 1`. `undefined`, and nothing changes, when what is stored has not the
   * revision of `expected` any more, or something else is staged that was not left behind.
   */
  stage(
    document: Readonly<Record<string, unknown>>,
    expected: StoredConfig,
    request: StagingRequest,
    signal: AbortSignal,
  ): Promise<StagedConfig | undefined>;
  /**
   * Makes what is staged what is stored; the watches of this store do not tell it. `false` when it is staged no more;
   * `true`, too, when that was done already.
   */
  confirm(staged: StagedConfig, signal: AbortSignal): Promise<boolean>;
  /**
   * Takes it away, if it is still staged, and tells whether this did: of several who do it, and of one who confirms, one is told so.
   * `true`, too, when the answer was lost and it is gone.
   */
  discard(staged: StagedConfig, signal: AbortSignal): Promise<boolean>;
}
