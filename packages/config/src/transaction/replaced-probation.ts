import type { ConfigStore, ReplacedProbation, Reversal } from "@bridge/ports";
import { CommitHistory } from "./commit-history.ts";
import type { LeftBehind } from "./left-behind.ts";
import { endNoted, keepLeft } from "./keep-left.ts";
import type { SettlingSeams } from "./left-probation.ts";
import { leftStoresOf } from "./left-stores.ts";
import type { Reverted } from "./on-probation.ts";
import { entryOf } from "./probation-entry.ts";

/**
 * Ends the probation of a document that another hand has replaced: what is stored counts, and what was tried out is
 * kept, for its stores may hold what came in meanwhile. `undefined` when that hand has only gone on with the version
 * that was tried out.
 *
 * @param taken why it was taken back, if it was before that
 * @param before what a process has left in these stores that ended before. Default: no process ran, and nobody has
 * asked what they hold
 */
export async function endReplaced(
  { probation, tried, replacedBy }: ReplacedProbation,
  { why, detail = "another hand has replaced the document" }: Reversal,
  store: ConfigStore,
  { clock, logger, storesOf }: SettlingSeams,
  before?: LeftBehind["leftStores"],
): Promise<Reverted | undefined> {
  const { version, actor } = probation;
  const at = clock.now();
  const reversal = { why, detail };
  const left = await leftStoresOf(tried, await storesOf(replacedBy.document), storesOf);
  const moved = left.leftStores;
  const leftStores = moved.filter((role) => before?.includes(role) ?? probation.emptied !== true);
  const isGone = replacedBy.version !== version || moved.length > 0;
  logger.warn("another hand has replaced a configuration that was on probation: what is stored now counts", {
    config_version: version,
    stored_version: replacedBy.version,
    ...(leftStores.length > 0 && { left_stores: leftStores.join(", ") }),
  });
  let isKept = true;
  if (isGone) {
    isKept = await keepLeft(tried, leftStores, { store, clock, logger });
    const history = new CommitHistory(store, clock, logger);
    await history.revert({ reverted: { at, ...reversal }, ...(await entryOf(probation, history, at)) });
  }
  if (isKept) await endNoted(version, { store, clock, logger });
  if (!isGone) return undefined;
  const unkept = !isKept && { unkept: tried };
  return {
    ...reversal,
    version,
    formerVersion: replacedBy.version,
    actor,
    at,
    ...(leftStores.length > 0 && { ...left, leftStores }),
    ...unkept,
  };
}
