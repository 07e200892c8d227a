import type { Hindrance, Reversal } from "@bridge/ports";
import type { OnProbation } from "./on-probation.ts";
import type { ProbationParts } from "./probation-endings.ts";
import { noteTakenBack } from "./taking-back.ts";

type Parts = Pick<ProbationParts, "store" | "clock" | "logger" | "applyAgain">;

/**
 * The taking back of a change whose document is away, is broken, or cannot be written: the former version runs again at
 * once, or as soon as it can, and is stored again as soon as that works.
 */
export class Withdrawal {
  readonly #onProbation: OnProbation;
  readonly #reversal: Reversal;
  readonly #parts: Parts;
  readonly #at: number;
  #hindrance: Hindrance;
  #runs: boolean;
  /** Why it did not run at the last look. */
  #fault: string | undefined;

  /** @param runs whether the former version does already. Default: not yet */
  constructor(onProbation: OnProbation, reversal: Reversal, hindrance: Hindrance, parts: Parts, runs = false) {
    this.#runs = runs;
    this.#onProbation = onProbation;
    this.#reversal = reversal;
    this.#hindrance = hindrance;
    this.#parts = parts;
    this.#at = parts.clock.now();
    const { probation, left } = onProbation;
    parts.logger.error(
      `a configuration is taken back: the former one runs again, and is stored again when the document can be ${canBe(hindrance)}`,
      {
        config_version: probation.version,
        former_version: probation.formerVersion,
        why: reversal.why,
        ...(left !== undefined && left.leftStores.length > 0 && { left_stores: left.leftStores.join(", ") }),
        error: whyOf(hindrance),
        remedy: this.#remedy,
      },
    );
  }

  /** Whether the former version runs. */
  get runs(): boolean {
    return this.#runs;
  }

  /** What the history says once the former version is stored again, but for when that is. */
  get reverted(): Reversal & { readonly at: number } {
    return { at: this.#at, ...this.#reversal };
  }

  /** What is true of it now, why, and what helps. */
  get told(): string {
    const { version } = this.#onProbation.probation;
    const can = canBe(this.#hindrance);
    const state =
      this.#fault === undefined
        ? `the former version runs again, and is stored again when the document can be ${can}`
        : `the former version cannot be applied (${this.#fault}): it is tried again each second, and stored again when the document can be ${can}`;
    return `version ${version} was taken back: ${state}: ${whyOf(this.#hindrance)}: ${this.#remedy}`;
  }

  get #remedy(): string {
    const { tried, probation } = this.#onProbation;
    if ("unreadable" in this.#hindrance)
      return "staged" in tried
        ? "put the document in order"
        : `put the document in order, or put version ${probation.formerVersion} there again, out of the former versions`;
    return "staged" in tried
      ? "see that the store answers; it is tried again each second"
      : "make room where the document lies, and let this process write it and its folder; it is tried again each second";
  }

  /** At each look until it runs: what was in its way may be gone. */
  async apply(hindrance: Hindrance): Promise<void> {
    const { logger, applyAgain } = this.#parts;
    const { probation, base } = this.#onProbation;
    this.#hindrance = hindrance;
    if (this.#runs) return;
    const fields = { config_version: probation.formerVersion };
    const fault = await applyAgain(base);
    this.#runs = fault === undefined;
    if (fault !== undefined && fault !== this.#fault)
      logger.error("the former configuration cannot be applied: it is tried again each second", {
        ...fields,
        error: fault,
      });
    if (fault === undefined && this.#fault !== undefined) logger.warn("the former configuration runs again", fields);
    this.#fault = fault;
  }

  /** In a way that outlasts the process, as far as it can be. Never rejects. */
  async note(): Promise<void> {
    await noteTakenBack(this.#onProbation.probation, this.#reversal, this.#parts);
  }
}

function canBe(hindrance: Hindrance): string {
  return "unreadable" in hindrance ? "read" : "written";
}

function whyOf(hindrance: Hindrance): string {
  return "unreadable" in hindrance ? hindrance.unreadable : hindrance.unwritable;
}
