import type { Clock, ConfigStore } from "@bridge/ports";
import type { Reverted } from "./on-probation.ts";
import { type EndedProbation, notOnProbation } from "./probation-refusals.ts";
import type { TransactionError } from "./transaction-error.ts";
import { whyNotBeside } from "./why-not-now.ts";

const REVERSALS = ["not_confirmed", "level", "failure_ratio", "operator", "process_ended"] as const;

interface Parts {
  readonly store: ConfigStore;
  readonly clock: Clock;
  readonly instanceId: string;
  readonly onReverted: (reverted: Reverted) => void;
}

/** What became of changes that are on probation here no more. */
export class EndedProbations {
  readonly #parts: Parts;
  readonly #counts = new Map<string, number>();
  #last: EndedProbation | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get last(): EndedProbation | undefined {
    return this.#last;
  }

  /** How many were taken back, by why. */
  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(REVERSALS.map((why) => [why, this.#counts.get(why) ?? 0]));
  }

  closed(version: number, end: EndedProbation["end"]): void {
    this.#last = { version, end };
  }

  /** By this process, or by a former one. */
  reverted(reverted: Reverted): void {
    this.#counts.set(reverted.why, (this.#counts.get(reverted.why) ?? 0) + 1);
    this.closed(reverted.version, "reverted");
    this.#parts.onReverted(reverted);
  }

  /** Why `version` cannot be ended here, while `open` is on probation. */
  async over(version: number, open: number | undefined): Promise<TransactionError> {
    const { store, clock } = this.#parts;
    const beside = (await whyNotBeside(store, clock))?.error;
    return notOnProbation(version, { open, last: this.#last, staged: store.staging?.seen, beside }, this.#parts);
  }
}
