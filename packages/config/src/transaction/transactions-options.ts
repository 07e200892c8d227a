import type { Clock, ConfigStore, Logger, Random } from "@bridge/ports";
import type { BridgeConfig } from "../model.ts";
import type { ReferenceSources } from "../references.ts";
import type { Registry } from "../registry.ts";
import type { StartChecks } from "../surroundings.ts";
import type { ConfigApplier } from "./applier.ts";
import type { LeftBehind } from "./left-behind.ts";
import type { SettledProbation } from "./left-probation.ts";
import type { Reverted } from "./on-probation.ts";

export interface ConfigTransactionsOptions {
  readonly store: ConfigStore;
  readonly registry: Registry;
  /** Where the values of the document's references come from. */
  readonly sources: ReferenceSources;
  /** What a changed document is held against beyond itself. Default: nothing, and the next start tells. */
  readonly startChecks?: StartChecks | undefined;
  /** Absent: a commit only writes. */
  readonly applier?: ConfigApplier | undefined;
  /** Spec 4.9.5. Default 60 s. */
  readonly applyTimeoutMs?: number | undefined;
  /** What the start has found of a probation. Default: nothing. */
  readonly settled?: SettledProbation | undefined;
  /**
   * What this start, and others before it, have left where nobody delivers or sees it, the newest first. Default:
   * nothing.
   */
  readonly leftBehind?: readonly LeftBehind[] | undefined;
  /**
   * What the process is about to run: stores that this brings back are not told as left meanwhile. Default: it is not
   * known.
   */
  readonly startsWith?: Pick<BridgeConfig, "configVersion" | "stores"> | undefined;
  /** Told of each change that was taken back. Default: nobody is. */
  readonly onReverted?: ((reverted: Reverted) => void) | undefined;
  /**
   * Told when what is stored, by a change that was taken back, could not be brought into force. No watch of the store
   * tells of it: whoever follows the store reads it again. Default: nobody is.
   */
  readonly onNotInForce?: (() => void) | undefined;
  /** Names this instance to others that follow the same store. Default: something random. */
  readonly instanceId?: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}
