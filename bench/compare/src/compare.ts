import { differences } from "./differences.ts";
import { draw } from "./draw.ts";
import { type Outcome, placesOf } from "./outcome.ts";
import { runReal } from "./real/run-real.ts";
import type { RealStage } from "./real/stage.ts";
import { inWords, type Scenario } from "./scenario.ts";
import { runSimulated } from "./simulated/run-simulated.ts";

/** What one scenario has shown. */
export interface Compared {
  readonly name: string;
  readonly what: string;
  readonly messages: number;
  readonly kills: number;
  /** By where legs ended, in both. */
  readonly ends: Readonly<Record<string, number>>;
  /** Arrivals beyond the first, in the models and in reality. */
  readonly repeats: readonly [models: number, real: number];
  readonly differences: readonly string[];
  readonly seconds: readonly [models: number, real: number];
}

/** Runs the scenario of a number in the models and with real parts, and compares what became of it. */
export async function compare(stage: RealStage, seed: string, number: number): Promise<Compared> {
  const name = `${seed}/${number}`;
  const scenario = draw(name);
  const begun = performance.now();
  const models = await runSimulated(scenario, number);
  const between = performance.now();
  const real = await runReal(stage, scenario, `s${number}`, models);
  const ended = performance.now();
  return {
    name,
    what: inWords(scenario),
    messages: scenario.messages.length,
    kills: killsOf(scenario),
    ends: Object.fromEntries(
      Map.groupBy(models.ended.values(), (each) => placesOf(each))
        .entries()
        .map(([place, { length }]) => [place, length]),
    ),
    repeats: [repeatsOf(models), repeatsOf(real)],
    differences: differences(scenario, models, real),
    seconds: [(between - begun) / 1_000, (ended - between) / 1_000],
  };
}

function killsOf({ troubles }: Scenario): number {
  return troubles.filter(({ kind }) => kind === "kill").length;
}

function repeatsOf({ ended }: Outcome): number {
  return [...ended.values()].reduce((sum, { arrivals }) => sum + Math.max(0, arrivals - 1), 0);
}
