import type { Clock, ConfigStore, Logger } from "@bridge/ports";
import { CommitHistory } from "./commit-history.ts";
import { bounded } from "./commit-parts.ts";
import { entryOf, putBack } from "./left-probation.ts";
import type { OnProbation, Reverted } from "./on-probation.ts";
import { elsewhere, messageOf } from "./probation-refusals.ts";

interface Seams {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What a process has left: it is on probation here from now on, or was stored again already. */
export type LeftBeside = { readonly found: OnProbation } | { readonly reverted: Reverted };

/**
 * What a process that writes the same document had on probation when it ended, if that is `version`: nobody but a start settles it by
 * itself, and there may be none.
 * @throws TransactionError conflict, while that process runs
 */
export async function leftBeside(
  version: number,
  store: ConfigStore,
  { clock, logger }: Seams,
): Promise<LeftBeside | undefined> {
  const probation = await bounded(clock, async (signal) => store.probations?.elsewhere?.(signal));
  if (probation?.version !== version) return undefined;
  const left = await bounded(clock, async (signal) => store.probations?.find(signal)).catch((error: unknown) => {
    throw elsewhere(version, messageOf(error));
  });
  if (left === undefined) return undefined;
  if (left.current === undefined) {
    const settled = await putBack(left, left.reversal ?? { why: "process_ended" }, store, { clock, logger });
    return "reverted" in settled ? settled : undefined;
  }
  const entry = await entryOf(left.probation, new CommitHistory(store, clock, logger), clock.now());
  return { found: { probation: left.probation, base: left.former, tried: { stored: left.current }, entry } };
}
