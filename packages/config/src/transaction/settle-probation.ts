import type { ConfigStore, LeftProbation, Probation, ReplacedProbation, StoredConfig } from "@bridge/ports";
import { formatTimestamp } from "@bridge/ports/internal";
import { bounded } from "./commit-parts.ts";
import { CommitHistory } from "./commit-history.ts";
import { foundProbation } from "./found-probation.ts";
import { putBack, type SettledProbation, type SettlingSeams } from "./left-probation.ts";
import { keepLeft } from "./keep-left.ts";
import { leftStoresOf } from "./left-stores.ts";
import { entryOf } from "./probation-entry.ts";
import { messageOf } from "./probation-refusals.ts";
import { endReplaced } from "./replaced-probation.ts";
import { noteTakenBack } from "./taking-back.ts";
import { placesOf } from "./store-places.ts";
import { timeLeft } from "./time-left.ts";

/** What a start knows of a probation, and the configuration that it read after that. */
export interface SettledStart<Configuration> {
  readonly settled: SettledProbation | undefined;
  readonly configuration: Configuration;
}

/**
 * Settles what is on probation before `read` reads what is to be run: it stays if the process before has ended in
 * order, and goes on with the time that is left, at least a minute. Else the former document is put back; where that
 * cannot be done yet, `read` is given it, to be run instead of what is stored. A store that did not answer may be there
 * again when the document has been read: it is asked once more, lest a version on probation runs as if it were none. If
 * it still cannot be settled, what is stored is run. Rejects only as `read` does.
 */
export async function settleProbation<Configuration>(
  store: ConfigStore,
  seams: SettlingSeams,
  read: (instead?: StoredConfig) => Promise<Configuration>,
): Promise<SettledStart<Configuration>> {
  const first = await settle(store, seams);
  if (first !== "unknown") {
    const configuration = await read(insteadOf(first));
    return replacedOr(first, configuration, store, seams, read);
  }
  const configuration = await read();
  const second = await settle(store, seams);
  if (second === "unknown")
    seams.logger.error("whether a configuration is on probation is not known: what is stored runs, as if none were");
  if (second === undefined || second === "unknown") return { settled: undefined, configuration };
  const isRead = "goesOn" in second || "replacedBy" in second;
  return replacedOr(second, isRead ? configuration : await read(insteadOf(second)), store, seams, read);
}

/**
 * What goes on may have its stores elsewhere by now, and something in those that it had: that is kept, and where they
 * are is noted.
 */
async function strayed(
  { probation, tried }: LeftProbation,
  store: ConfigStore,
  seams: SettlingSeams,
): Promise<Pick<Probation, "places">> {
  if (tried?.places === undefined || probation.places === undefined) return {};
  const stores = await seams.storesOf(tried.document);
  const { leftStores } = await leftStoresOf(tried, stores, seams.storesOf);
  if (leftStores.length === 0 || !(await keepLeft(tried, leftStores, { store, ...seams }))) return {};
  return { places: { ...probation.places, tried: placesOf(stores) } };
}

/**
 * Where another hand has replaced what was on probation by what cannot be run, the former one runs until that is
 * mended.
 */
async function replacedOr<Configuration>(
  settled: SettledProbation | ReplacedProbation | undefined,
  configuration: Configuration,
  store: ConfigStore,
  seams: SettlingSeams,
  read: (instead?: StoredConfig) => Promise<Configuration>,
): Promise<SettledStart<Configuration>> {
  if (settled === undefined || !("replacedBy" in settled)) return { settled, configuration };
  if (configuration !== undefined) {
    const reverted = await endReplaced(settled, { why: "process_ended" }, store, seams);
    return { settled: reverted && { reverted }, configuration };
  }
  const { probation, former, tried } = settled;
  const entry = await entryOf(probation, new CommitHistory(store, seams.clock, seams.logger), seams.clock.now());
  const reversal = { why: "process_ended" };
  await noteTakenBack(probation, reversal, { store, clock: seams.clock });
  const left =
    probation.emptied === true
      ? undefined
      : await leftStoresOf(tried, await seams.storesOf(former.document), seams.storesOf);
  const taken = {
    takenBack: { probation, base: former, tried: { stored: tried }, entry, left },
    reversal,
    hindrance: { unreadable: `${store.source} holds what is no configuration` },
  };
  return { settled: taken, configuration: await read(former) };
}

/** What is to be run in place of what is stored. */
function insteadOf(settled: SettledProbation | ReplacedProbation | undefined): StoredConfig | undefined {
  return settled !== undefined && "takenBack" in settled ? settled.takenBack.base : undefined;
}

/**
 * `unknown`: it is tried again. What another hand has replaced is to be ended when it is known whether that can be run.
 */
async function settle(
  store: ConfigStore,
  seams: SettlingSeams,
): Promise<SettledProbation | ReplacedProbation | "unknown" | undefined> {
  const { clock, logger } = seams;
  try {
    const left = await foundProbation(store, seams);
    if (left === undefined) return undefined;
    if ("replacedBy" in left) return left;
    if ("runs" in left) {
      logger.warn(
        "what is stored is on probation in another process, which runs: it runs here, too, until it is taken back",
        {
          config_version: left.probation.version,
          confirm_by: formatTimestamp(left.probation.confirmBy),
        },
      );
      return undefined;
    }
    const { probation, former, current, orderly, reversal } = left;
    if (current !== undefined && orderly && reversal === undefined) {
      const confirmBy = clock.now() + timeLeft(probation, clock.now());
      const goesOn = { ...probation, confirmBy, ...(await strayed(left, store, seams)) };
      // A process that dies now has not ended in order.
      await bounded(clock, async (signal) =>
        store.probations?.note({ probation: goesOn, orderly: false }, signal),
      ).catch((error: unknown) => {
        const fields = { config_version: probation.version, error: messageOf(error) };
        logger.warn(
          "that a configuration is on probation still is not noted: after a crash it would go on again",
          fields,
        );
      });
      logger.info("a configuration is on probation still", {
        config_version: probation.version,
        confirm_by: formatTimestamp(confirmBy),
      });
      const entry = await entryOf(probation, new CommitHistory(store, clock, logger), clock.now());
      return { goesOn: { probation: goesOn, base: former, tried: { stored: current }, entry } };
    }
    return await putBack(left, reversal ?? { why: "process_ended" }, store, seams);
  } catch (error) {
    logger.error(
      "the probation of a configuration could not be settled: it is tried once more when the document is read, then what is stored runs",
      {
        error: messageOf(error),
      },
    );
    return "unknown";
  }
}
