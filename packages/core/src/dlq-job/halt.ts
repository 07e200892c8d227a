/** When a job stops by itself. */
export interface HaltPolicy {
  /** Of attempts that fail, the part above which it halts, from 0 to 1; 1: never. */
  readonly failureRatio: number;
  /** Before so many attempts no ratio is looked at, but for that of a whole step. */
  readonly minAttempts: number;
  /** Failures in a row; 0: they are not looked at. */
  readonly consecutive: number;
}

export type HaltWhy = "failure_ratio" | "consecutive" | "store";

/** Why a job has stopped by itself. */
export interface Halted {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly why: HaltWhy;
  readonly failed: number;
  readonly attempts: number;
  /** Of the last failure. */
  readonly error?: string | undefined;
}

/** Why it is to halt. */
export type HaltVerdict = Pick<Halted, "why" | "failed" | "attempts">;

/** Attempts that are looked back on. */
const WINDOW = 200;

/** Looks at the outcomes of one start of a job, in the order in which they come. */
export class HaltWatch {
  /** A ring: whether each failed. */
  readonly #outcomes: boolean[] = [];
  #next = 0;
  #failed = 0;
  #inRow = 0;

  /** After an attempt has ended: why to halt, if so. */
  after(hasFailed: boolean, { failureRatio, minAttempts, consecutive }: HaltPolicy): HaltVerdict | undefined {
    if (this.#outcomes[this.#next] === true) this.#failed--;
    this.#outcomes[this.#next] = hasFailed;
    this.#next = (this.#next + 1) % WINDOW;
    this.#inRow = hasFailed ? this.#inRow + 1 : 0;
    if (hasFailed) this.#failed++;
    const [failed, attempts] = [this.#failed, this.#outcomes.length];
    if (consecutive > 0 && this.#inRow >= consecutive) return { why: "consecutive", failed, attempts };
    // A window that is never as long as asked for would never be looked at.
    if (attempts < Math.min(minAttempts, WINDOW)) return undefined;
    return failed > attempts * failureRatio ? { why: "failure_ratio", failed, attempts } : undefined;
  }
}

/** At the end of a step of the ramp, whatever its size: why to halt, if so. */
export function afterStep(
  { done, failed }: { readonly done: number; readonly failed: number },
  { failureRatio }: HaltPolicy,
): HaltVerdict | undefined {
  return failed > done * failureRatio ? { why: "failure_ratio", failed, attempts: done } : undefined;
}
