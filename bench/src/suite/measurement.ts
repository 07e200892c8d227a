import { type Spread, spreadOf } from "../harness/spread.ts";
import type { Contender } from "./contender.ts";

/** One run of one contender: plain numbers by name. */
export type Run = Readonly<Record<string, number>>;

/** One row of the results: the same work done by each contender in turn, round after round. */
export interface Measurement {
  readonly suite: string;
  readonly name: string;
  readonly runs: Readonly<Partial<Record<Contender, readonly Run[]>>>;
}

/** What a contender's runs say about one figure. */
export function figure({ runs }: Measurement, contender: Contender, name: string): Spread | undefined {
  return figureOf(runs[contender], name);
}

/** The bridge's figure as a multiple of the script's. */
export function ratio({ runs }: Measurement, name: string): Spread | undefined {
  return roundByRound(runs.bridge, runs.script, name, (bridge, script) => bridge / script);
}

/** What some runs say about one figure; `undefined` without runs. */
export function figureOf(runs: readonly Run[] = [], name: string): Spread | undefined {
  const values = runs.map((run) => run[name] ?? Number.NaN);
  return values.length === 0 ? undefined : spreadOf(values);
}

/** Two contenders compared in each round by itself: what a busy machine does to one, it does to the other. */
export function roundByRound(
  runs: readonly Run[] = [],
  yardstick: readonly Run[] = [],
  name: string,
  compare: (one: number, other: number) => number,
): Spread | undefined {
  const rounds = Math.min(runs.length, yardstick.length);
  const values = Array.from({ length: rounds }, (_, round) =>
    compare(runs[round]?.[name] ?? Number.NaN, yardstick[round]?.[name] ?? Number.NaN),
  );
  return values.length === 0 ? undefined : spreadOf(values);
}

/** The contenders in the order of a turn: another one begins in each, so that none is always the first. */
export function inTurn<Name>(contenders: readonly Name[], turn: number): readonly Name[] {
  const first = turn % contenders.length;
  return [...contenders.slice(first), ...contenders.slice(0, first)];
}

/** Lets the contenders take turns, one whole run after another. */
export async function alternate<Name extends string>(
  rounds: number,
  contenders: readonly Name[],
  run: (contender: Name, round: number) => Promise<Run>,
): Promise<Readonly<Record<Name, readonly Run[]>>> {
  const runs = {} as Record<Name, Run[]>;
  for (const contender of contenders) runs[contender] = [];
  for (let round = 0; round < rounds; round++) {
    for (const contender of inTurn(contenders, round)) runs[contender].push(await run(contender, round));
  }
  return runs;
}
