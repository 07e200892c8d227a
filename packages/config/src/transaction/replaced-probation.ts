import type { Clock, ConfigStore, Logger, ReplacedProbation } from "@bridge/ports";
import { CommitHistory } from "./commit-history.ts";
import { bounded } from "./commit-parts.ts";
import { movedStores } from "./moved-stores.ts";
import type { Reverted } from "./on-probation.ts";
import { entryOf } from "./probation-entry.ts";
import { messageOf } from "./probation-refusals.ts";

interface Seams {
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Ends the probation of a document that another hand has replaced: what is stored counts, and what was tried out is kept, for its stores
 * may hold what came in meanwhile. `undefined` when that hand has only gone on with the version that was tried out.
 *
 * @param why `process_ended`: no process ran, and nobody has asked what the stores hold
 */
export async function endReplaced(
  { probation, tried, replacedBy }: ReplacedProbation,
  why: "process_ended" | "operator",
  store: ConfigStore,
  { clock, logger }: Seams,
): Promise<Reverted | undefined> {
  const { version, actor } = probation;
  const at = clock.now();
  const reversal = { why, detail: "another hand has replaced the document" };
  const moved = movedStores(replacedBy.document, tried.document);
  const leftStores = why === "process_ended" ? moved : [];
  const isGone = replacedBy.version !== version || moved.length > 0;
  logger.warn("another hand has replaced a configuration that was on probation: what is stored now counts", {
    config_version: version,
    stored_version: replacedBy.version,
    ...(leftStores.length > 0 && { left_stores: leftStores.join(", ") }),
  });
  if (isGone) {
    await bounded(clock, async (signal) => store.versions?.keepReverted(tried, signal)).catch((error: unknown) => {
      logger.warn("what was on probation is not kept", { config_version: version, error: messageOf(error) });
    });
    const history = new CommitHistory(store, clock, logger);
    await history.revert({ reverted: { at, ...reversal }, ...(await entryOf(probation, history, at)) });
  }
  await bounded(clock, async (signal) => store.probations?.end(signal)).catch((error: unknown) => {
    logger.warn("that the probation is over is not noted", { config_version: version, error: messageOf(error) });
  });
  if (!isGone) return undefined;
  const left = leftStores.length > 0 && { leftStores, tried: tried.document };
  return { ...reversal, version, formerVersion: replacedBy.version, actor, at, ...left };
}
