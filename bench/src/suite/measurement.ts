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
export function figure(measurement: Measurement, contender: Contender, name: string): Spread | undefined {
  const values = (measurement.runs[contender] ?? []).map((run) => run[name] ?? Number.NaN);
  return values.length === 0 ? undefined : spreadOf(values);
}

/** The bridge's figure as a multiple of the script's, round by round: what a busy machine does to one, it does to both. */
export function ratio(measurement: Measurement, name: string): Spread | undefined {
  return paired(measurement, name, (bridge, script) => bridge / script);
}

/** How much the bridge's figure lies above the script's, round by round. */
export function difference(measurement: Measurement, name: string): Spread | undefined {
  return paired(measurement, name, (bridge, script) => bridge - script);
}

function paired(
  { runs }: Measurement,
  name: string,
  compare: (bridge: number, script: number) => number,
): Spread | undefined {
  const { script = [], bridge = [] } = runs;
  const rounds = Math.min(script.length, bridge.length);
  const values = Array.from({ length: rounds }, (_, round) =>
    compare(bridge[round]?.[name] ?? Number.NaN, script[round]?.[name] ?? Number.NaN),
  );
  return values.length === 0 ? undefined : spreadOf(values);
}

/** Lets the contenders take turns. */
export async function alternate(
  rounds: number,
  contenders: readonly Contender[],
  run: (contender: Contender) => Promise<Run>,
): Promise<Measurement["runs"]> {
  const runs: Partial<Record<Contender, Run[]>> = {};
  for (let round = 0; round < rounds; round++) {
    for (const contender of contenders) (runs[contender] ??= []).push(await run(contender));
  }
  return runs;
}
