import type { BridgeConfig } from "../model.ts";
import type { PendingOutcome } from "./commit-pending.ts";
import type { NotApplied } from "./contract.ts";
import type { Leftovers } from "./leftovers.ts";

/** What the last commit has left for people to put in order. */
export class Aftermath {
  readonly #leftovers: Pick<Leftovers, "runs">;
  #notApplied: NotApplied | undefined;

  constructor(leftovers: Pick<Leftovers, "runs">) {
    this.#leftovers = leftovers;
  }

  /** How what is stored differs from what runs. */
  get notApplied(): NotApplied | undefined {
    return this.#notApplied;
  }

  ofCommit({ result, differs, config }: PendingOutcome & { readonly begun: true }): void {
    if (result.status === "committed_not_applied" && differs)
      this.#notApplied = { version: result.version, error: result.error };
    else if (result.status === "committed" || result.status === "committed_applying") this.storedRuns();
    if (result.status === "committed" || result.status === "committed_applying" || result.status === "probation")
      this.#leftovers.runs({ ...config, configVersion: result.version });
  }

  /** What is stored has come into force, whoever brought it there; `config`: what, when nobody has just brought it. */
  storedRuns(config?: BridgeConfig): void {
    this.#notApplied = undefined;
    if (config !== undefined) this.#leftovers.runs(config);
  }
}
