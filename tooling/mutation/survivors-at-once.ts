import { relative } from "node:path";
import { cwd } from "node:process";
import { describeMutant, type Mutant } from "./named-mutants.ts";

/** Prints each survivor when it is known, because a run can take an hour, and how far the run has come. */
class SurvivorsAtOnce {
  #total = 0;
  #tested = 0;

  onMutationTestingPlanReady({ mutantPlans }: { readonly mutantPlans: readonly unknown[] }): void {
    this.#total = mutantPlans.length;
  }

  onMutantTested(mutant: Mutant & { readonly status: string }): void {
    if (++this.#tested % 50 === 0) console.log(`${this.#tested} of ${this.#total}`);
    if (mutant.status !== "Survived" && mutant.status !== "NoCoverage") return;
    const { code, becomes } = describeMutant(mutant);
    const where = `${relative(cwd(), mutant.fileName)}:${mutant.location.start.line}`;
    console.log(`${mutant.status} ${where}\n  - ${code}\n  + ${becomes}`);
  }
}

/** A plugin for Stryker. */
export const strykerPlugins = [{ kind: "Reporter", name: "survivors-at-once", injectableClass: SurvivorsAtOnce }];
