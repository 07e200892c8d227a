import type {
  Clock,
  ConfigStore,
  Hindrance,
  LeftProbation,
  Logger,
  ReplacedProbation,
  Reversal,
  StoredConfig,
} from "@bridge/ports";
import { formatTimestamp } from "@bridge/ports/internal";
import { bounded } from "./commit-parts.ts";
import { CommitHistory } from "./commit-history.ts";
import { foundProbation } from "./found-probation.ts";
import { movedStores } from "./moved-stores.ts";
import type { OnProbation, Reverted } from "./on-probation.ts";
import { entryOf } from "./probation-entry.ts";
import { messageOf } from "./probation-refusals.ts";
import { endReplaced } from "./replaced-probation.ts";
import { noteTakenBack } from "./taking-back.ts";
import { timeLeft } from "./time-left.ts";

/** What a start takes back, and cannot store again yet. */
export interface TakenBack {
  readonly takenBack: OnProbation;
  readonly reversal: Reversal;
  /** Why not. */
  readonly hindrance: Hindrance;
  /** As in {@link Reverted}. */
  readonly leftStores: readonly string[];
}

/** What a start has found of a probation: it goes on, or the former document is stored again, or runs until it can be. */
export type SettledProbation = { readonly goesOn: OnProbation } | { readonly reverted: Reverted } | TakenBack;

interface Seams {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What a start knows of a probation, and the configuration that it read after that. */
export interface SettledStart<Configuration> {
  readonly settled: SettledProbation | undefined;
  readonly configuration: Configuration;
}

/**
 * Settles what is on probation before `read` reads what is to be run: it stays if the process before has ended in order, and goes on with
 * the time that is left, at least a minute. Else the former document is put back; where that cannot be done yet, `read` is given it, to be
 * run instead of what is stored. A store that did not answer may be there again when the document has been read: it is asked once more,
 * lest a version on probation runs as if it were none. If it still cannot be settled, what is stored is run. Rejects only as `read` does.
 */
export async function settleProbation<Configuration>(
  store: ConfigStore,
  seams: Seams,
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

/** Where another hand has replaced what was on probation by what cannot be run, the former one runs until that is mended. */
async function replacedOr<Configuration>(
  settled: SettledProbation | ReplacedProbation | undefined,
  configuration: Configuration,
  store: ConfigStore,
  seams: Seams,
  read: (instead?: StoredConfig) => Promise<Configuration>,
): Promise<SettledStart<Configuration>> {
  if (settled === undefined || !("replacedBy" in settled)) return { settled, configuration };
  if (configuration !== undefined) {
    const reverted = await endReplaced(settled, "process_ended", store, seams);
    return { settled: reverted && { reverted }, configuration };
  }
  const { probation, former, tried } = settled;
  const entry = await entryOf(probation, new CommitHistory(store, seams.clock, seams.logger), seams.clock.now());
  const reversal = { why: "process_ended" };
  await noteTakenBack(probation, reversal, { store, clock: seams.clock });
  const taken = {
    takenBack: { probation, base: former, tried: { stored: tried }, entry },
    reversal,
    hindrance: { unreadable: `${store.source} holds what is no configuration` },
    leftStores: movedStores(former.document, tried.document),
  };
  return { settled: taken, configuration: await read(former) };
}

/** What is to be run in place of what is stored. */
function insteadOf(settled: SettledProbation | ReplacedProbation | undefined): StoredConfig | undefined {
  return settled !== undefined && "takenBack" in settled ? settled.takenBack.base : undefined;
}

/** `unknown`: it is tried again. What another hand has replaced is to be ended when it is known whether that can be run. */
async function settle(
  store: ConfigStore,
  seams: Seams,
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
      const goesOn = { ...probation, confirmBy };
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

/** Stores the former document again, as far as it is not, and says so in the history. */
export async function putBack(
  left: LeftProbation,
  reversal: Reversal,
  store: ConfigStore,
  { clock, logger }: Seams,
): Promise<SettledProbation> {
  const { probation, former, current, tried } = left;
  const { version, formerVersion, actor } = probation;
  const at = clock.now();
  // A process that has died was asked by nobody what its stores hold.
  const leftStores = tried === undefined ? [] : movedStores(former.document, tried.document);
  const history = new CommitHistory(store, clock, logger);
  const entry = await entryOf(probation, history, at);
  if (current !== undefined) {
    await noteTakenBack(probation, reversal, { store, clock });
    const hindrance = left.hindered ?? (await restored(former, current, store, clock));
    if (hindrance !== undefined) {
      const takenBack = { probation, base: former, tried: { stored: current }, entry };
      return { takenBack, reversal, hindrance, leftStores };
    }
  }
  if (tried !== undefined)
    await bounded(clock, async (signal) => store.versions?.keepReverted(tried, signal)).catch((error: unknown) => {
      logger.warn("what was on probation is not kept", { config_version: version, error: messageOf(error) });
    });
  await history.revert({ reverted: { at, ...reversal }, ...entry });
  await bounded(clock, async (signal) => store.probations?.end(signal)).catch((error: unknown) => {
    logger.warn("that the probation is over is not noted", { config_version: version, error: messageOf(error) });
  });
  logger.error("a configuration on probation was taken back at the start: the former one runs", {
    config_version: version,
    former_version: formerVersion,
    why: reversal.why,
    ...(leftStores.length > 0 && { left_stores: leftStores.join(", ") }),
  });
  return {
    reverted: {
      ...reversal,
      version,
      formerVersion,
      actor,
      at,
      ...(leftStores.length > 0 && { leftStores, tried: tried?.document }),
    },
  };
}

/** Resolves to why it cannot be done. */
async function restored(
  former: StoredConfig,
  current: StoredConfig,
  store: ConfigStore,
  clock: Clock,
): Promise<Hindrance | undefined> {
  let isStored: boolean;
  try {
    isStored = await bounded(clock, (signal) => store.restore(former, current, signal));
  } catch (error) {
    return { unwritable: messageOf(error) };
  }
  if (!isStored) throw new Error("another hand has written meanwhile");
  return undefined;
}

/** What a version has left in its stores, when the document of `formerVersion` runs. */
export interface LeftBehind extends Pick<Reverted, "version" | "formerVersion" | "leftStores" | "tried"> {
  /** Why it cannot run again, though its process ended before its stores were empty. Absent: it was taken back. */
  readonly unusable?: string | undefined;
}

/** What was left behind with the stores of a version, and how to get at it. */
export function leftBehindBy({ version, formerVersion, leftStores = [], unusable }: LeftBehind): string {
  const stores = leftStores.map((role) => `stores.${role}`).join(" and ");
  const again = `commit version ${version} again (from_version: ${version})`;
  if (unusable !== undefined)
    return `a process ended before ${stores} of version ${version} were empty, and that version cannot run again (${unusable}): what waited is still there; mend that, ${again} or put its document back, let it be delivered, and go back then`;
  return `version ${version} was taken back when its process had ended, and has ${stores} at another place than what runs, version ${formerVersion}: what came in meanwhile is still there; ${again}, let it be delivered, and go back then`;
}
