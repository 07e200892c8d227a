import type { ConfigStore, Reversal } from "@bridge/ports";
import { CommitHistory } from "./commit-history.ts";
import { bounded } from "./commit-parts.ts";
import { foundProbation } from "./found-probation.ts";
import { leftStoresBeside } from "./left-stores.ts";
import { putBack, type SettlingSeams } from "./left-probation.ts";
import type { OnProbation, Reverted } from "./on-probation.ts";
import { entryOf } from "./probation-entry.ts";
import { endReplaced } from "./replaced-probation.ts";

/**
 * What a process has left: it is on probation here from now on, with why it was being taken back, or was stored again
 * already.
 */
export type LeftBeside =
  | { readonly found: OnProbation; readonly reversal: Reversal | undefined }
  | { readonly reverted: Reverted };

/**
 * What a process that writes the same document had on probation when it ended, if that is `version`; nothing while that
 * process runs.
 */
export async function leftBeside(
  version: number,
  store: ConfigStore,
  seams: SettlingSeams,
): Promise<LeftBeside | undefined> {
  const beside = await bounded(seams.clock, async (signal) => store.probations?.elsewhere?.(signal));
  if (beside?.probation.version !== version) return undefined;
  const left = await foundProbation(store, seams);
  if (left === undefined || "runs" in left) return undefined;
  if ("replacedBy" in left) {
    const reverted = await endReplaced(left, { why: "process_ended" }, store, seams);
    return reverted && { reverted };
  }
  if (left.current === undefined) {
    const settled = await putBack(left, left.reversal ?? { why: "process_ended" }, store, seams);
    return "reverted" in settled ? settled : undefined;
  }
  const entry = await entryOf(left.probation, new CommitHistory(store, seams.clock, seams.logger), seams.clock.now());
  const { probation, former, current, tried = current } = left;
  const found = {
    probation,
    base: former,
    tried: { stored: tried },
    entry,
    left: probation.emptied === true ? undefined : await leftStoresBeside({ former, tried }, seams.storesOf),
  };
  return { found, reversal: left.reversal };
}
