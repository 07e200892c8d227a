import type { RedriveMark } from "@bridge/ports";

/** How often dead letters were redriven in vain, as their marks have it: one try is one redrive, however many of its legs fail. */
export class RedriveCounts {
  readonly #violated: (words: string) => void;
  readonly #told = new Map<string, { readonly last: string; readonly tries: number }>();

  constructor(violated: (words: string) => void) {
    this.#violated = violated;
  }

  /** Its failure is about to be marked. */
  failed(entryId: string, { jobId, jobTry }: Pick<RedriveMark, "jobId" | "jobTry">): void {
    const { last, tries } = this.#told.get(entryId) ?? { last: "", tries: 0 };
    const now = JSON.stringify([jobId, jobTry]);
    // A mark knows the last try alone: of two at once, each comes anew after the other.
    if (now !== last) this.#told.set(entryId, { last: now, tries: tries + 1 });
  }

  /** What its mark says. */
  counted(entryId: string, count: number): void {
    const { tries } = this.#told.get(entryId) ?? { tries: 0 };
    if (count > tries) this.#violated(`entry ${entryId} counts ${count} redrives, and ${tries} were tried`);
  }
}
