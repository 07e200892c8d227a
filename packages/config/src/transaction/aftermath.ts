import type { PendingOutcome } from "./commit-pending.ts";
import type { NotApplied } from "./contract.ts";
import { leftBehindBy } from "./left-probation.ts";

/** What the last commit, or the start, has left for people to put in order. */
export class Aftermath {
  #notApplied: NotApplied | undefined;
  #leftBehind: string | undefined;

  /** How what is stored differs from what runs. */
  get notApplied(): NotApplied | undefined {
    return this.#notApplied;
  }

  /** Which messages are where nobody delivers or sees them. */
  get leftBehind(): string | undefined {
    return this.#leftBehind;
  }

  /** The start has taken something back. */
  ofStart(takenBack: Parameters<typeof leftBehindBy>[0]): void {
    this.#leftBehind = leftBehindBy(takenBack);
  }

  ofCommit({ result, differs }: PendingOutcome & { readonly begun: true }): void {
    if (result.status === "committed_not_applied" && differs)
      this.#notApplied = { version: result.version, error: result.error };
    else if (result.status === "committed" || result.status === "committed_applying") this.storedRuns();
    if (["committed", "committed_applying", "probation"].includes(result.status)) this.#leftBehind = undefined;
  }

  /** What is stored has come into force, whoever brought it there. */
  storedRuns(): void {
    this.#notApplied = undefined;
  }
}
