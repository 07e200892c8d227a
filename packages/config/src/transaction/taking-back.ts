import type { Reversal, StoredConfig } from "@bridge/ports";
import { bounded } from "./commit-parts.ts";
import type { OnProbation } from "./on-probation.ts";
import type { ProbationParts } from "./probation-endings.ts";
import type { Standing } from "./tried-document.ts";

type Parts = Pick<ProbationParts, "store" | "clock" | "logger" | "applyAgain">;

/**
 * The taking back of a change whose document is away, or broken: the former version runs again at once, or as soon as it can, and is stored
 * again when the document can be read.
 */
export class Withdrawal {
  readonly #onProbation: OnProbation;
  readonly #parts: Parts;
  #runs = false;
  /** Why it did not run at the last look. */
  #fault: string | undefined;

  constructor(onProbation: OnProbation, parts: Parts) {
    this.#onProbation = onProbation;
    this.#parts = parts;
  }

  /** Says so, and why, in a way that outlasts the process. */
  async tell(reversal: Reversal, unreadable: string): Promise<void> {
    const { store, clock, logger } = this.#parts;
    const { probation } = this.#onProbation;
    logger.error(
      "a configuration is taken back: the former one runs again, and is stored again when the document can be read",
      {
        config_version: probation.version,
        former_version: probation.formerVersion,
        why: reversal.why,
        error: unreadable,
      },
    );
    await bounded(clock, async (signal) =>
      store.probations?.note({ probation, orderly: false, reversal }, signal),
    ).catch(() => {
      // The next start takes it back all the same, and does not know why.
    });
  }

  /** At each look until it runs: what was in its way may be gone. Resolves to what of it is true then. */
  async apply(): Promise<string> {
    const { logger, applyAgain } = this.#parts;
    const fields = { config_version: this.#onProbation.probation.formerVersion };
    if (!this.#runs) {
      const fault = await applyAgain(this.#onProbation.base);
      this.#runs = fault === undefined;
      if (fault !== undefined && fault !== this.#fault)
        logger.error("the former configuration cannot be applied: it is tried again each second", {
          ...fields,
          error: fault,
        });
      if (fault === undefined && this.#fault !== undefined) logger.warn("the former configuration runs again", fields);
      this.#fault = fault;
    }
    return this.#fault === undefined
      ? "the former version runs again, and is stored again when the document can be read"
      : `the former version cannot be applied (${this.#fault}): it is tried again each second, and stored again when the document can be read`;
  }
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
  await bounded(clock, async (signal) => store.probations?.note({ probation, orderly: false, reversal }, signal));
  if (await bounded(clock, (signal) => store.restore(base, tried.stored, signal))) return true;
  const stands = await standing();
  if (stands === "another") return false;
  throw new Error(stands === "tried" ? "the document could not be put back" : stands.unreadable);
}

/** So that it can be mended; and its probation is over for whoever starts next. */
export async function keepTakenBack({ probation, tried }: OnProbation, { store, clock, logger }: Parts): Promise<void> {
  const { version } = probation;
  const document: StoredConfig | { readonly version: number; readonly document: StoredConfig["document"] } =
    "stored" in tried ? tried.stored : { version, document: tried.document };
  await bounded(clock, async (signal) => {
    await store.versions?.keepReverted(document, signal);
    await store.probations?.end(signal);
  }).catch((error: unknown) => {
    logger.warn("what was taken back is not kept to be mended", {
      config_version: version,
      error: error instanceof Error ? error.message : String(error),
    });
  });
}
