import type { Clock, ConfigProbations, ConfigStore, Logger } from "@bridge/ports";
import { CommitHistory } from "./commit-history.ts";
import { bounded } from "./commit-parts.ts";

/**
 * What a process has left on probation. Not a version that the history knows to be there to stay: then the note of it
 * has come back, out of an older copy of the folder or of a disk that has lost its removal, and is removed.
 */
export async function foundProbation(
  store: ConfigStore,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): ReturnType<ConfigProbations["find"]> {
  const left = await bounded(clock, async (signal) => store.probations?.find(signal));
  if (left === undefined || "runs" in left) return left;
  const { version } = left.probation;
  if (!(await new CommitHistory(store, clock, logger).isConfirmed(version))) return left;
  logger.warn("a note says that a configuration is on probation, which was confirmed before: the note is removed", {
    config_version: version,
  });
  await bounded(clock, async (signal) => store.probations?.end(signal));
  return undefined;
}
