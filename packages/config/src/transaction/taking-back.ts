import type { Probation, Reversal, StoredConfig } from "@bridge/ports";
import { bounded } from "./commit-parts.ts";
import { keepLeft } from "./keep-left.ts";
import type { OnProbation } from "./on-probation.ts";
import type { ProbationParts } from "./probation-endings.ts";
import { messageOf } from "./probation-refusals.ts";
import type { Standing } from "./tried-document.ts";

type Parts = Pick<ProbationParts, "store" | "clock" | "logger">;

/** So that the next start knows why. Without that it takes it back all the same. Never rejects. */
export async function noteTakenBack(
  probation: Probation,
  reversal: Reversal,
  { store, clock }: Pick<Parts, "store" | "clock">,
): Promise<void> {
  await bounded(clock, async (signal) => store.probations?.note({ probation, orderly: false, reversal }, signal)).catch(
    () => {},
  );
}

/** Whether what is stored is the former one now, by our doing. */
export async function isPutBack(
  { probation, base, tried }: OnProbation,
  reversal: Reversal,
  { store, clock }: Parts,
  standing: () => Promise<Standing>,
): Promise<boolean> {
  if ("staged" in tried) {
    const { staging } = store;
    if (staging === undefined) return false;
    return bounded(clock, (signal) => staging.discard(tried.staged, signal));
  }
  await noteTakenBack(probation, reversal, { store, clock });
  if (await bounded(clock, (signal) => store.restore(base, tried.stored, signal))) return true;
  const stands = await standing();
  if (stands === "another") return false;
  throw new Error(stands === "tried" ? "the document could not be put back" : stands.unreadable);
}

/**
 * So that it can be mended; and its probation is over for whoever starts next, unless what it has left would be
 * forgotten with that.
 */
export async function keepTakenBack(
  { probation, tried, left }: OnProbation,
  { store, clock, logger }: Parts,
): Promise<void> {
  const { version } = probation;
  const document: StoredConfig | { readonly version: number; readonly document: StoredConfig["document"] } =
    "stored" in tried ? tried.stored : { version, document: tried.document };
  if (!(await keepLeft(document, left?.leftStores ?? [], { store, clock, logger }))) return;
  await bounded(clock, async (signal) => store.probations?.end(signal)).catch((error: unknown) => {
    logger.warn("that the probation is over is not noted: the next start finds the former document, and notes it", {
      config_version: version,
      error: messageOf(error),
    });
  });
}
