import type { StoredConfig } from "@bridge/ports";
import type { PendingOutcome } from "./commit-pending.ts";
import type { NotApplied } from "./contract.ts";
import { type LeftBehind, leftBehindBy } from "./left-probation.ts";
import { movedStores } from "./moved-stores.ts";

/** What the last commit, or the start, has left for people to put in order. */
export class Aftermath {
  #notApplied: NotApplied | undefined;
  #left: LeftBehind | undefined;

  /** @param left by the start. Default: nothing */
  constructor(left?: LeftBehind) {
    this.#left = left;
  }

  /** How what is stored differs from what runs. */
  get notApplied(): NotApplied | undefined {
    return this.#notApplied;
  }

  /** Which messages are where nobody delivers or sees them. */
  get leftBehind(): string | undefined {
    return this.#left && leftBehindBy(this.#left);
  }

  /** Something was taken back that no store was asked about. */
  tookBack(left: LeftBehind): void {
    if (left.leftStores !== undefined && left.leftStores.length > 0) this.#left = left;
  }

  ofCommit({ result, differs }: PendingOutcome & { readonly begun: true }, document: StoredConfig["document"]): void {
    if (result.status === "committed_not_applied" && differs)
      this.#notApplied = { version: result.version, error: result.error };
    else if (result.status === "committed" || result.status === "committed_applying") this.storedRuns();
    if (result.status === "committed" || result.status === "committed_applying" || result.status === "probation")
      this.comesIntoForce({ version: result.version, document });
  }

  /** What is stored has come into force, whoever brought it there. */
  storedRuns(): void {
    this.#notApplied = undefined;
  }

  /** What a store holds that runs again is delivered and seen, and nobody leaves it while something is in it. */
  comesIntoForce({ version, document }: Pick<StoredConfig, "version" | "document">): void {
    if (this.#left === undefined) return;
    const { tried = {}, leftStores = [] } = this.#left;
    const away = movedStores(document, tried).filter((role) => leftStores.includes(role));
    this.#left = away.length === 0 ? undefined : { ...this.#left, formerVersion: version, leftStores: away };
  }
}
