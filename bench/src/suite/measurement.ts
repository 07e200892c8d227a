import { type Spread, spreadOf } from "../harness/spread.ts";
import { type Contender, YARDSTICKS } from "./contender.ts";

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

/** The bridge's figure as a multiple of the yardstick's, round by round: what a busy machine does to one, it does to both. */
export function ratio(measurement: Measurement, name: string): Spread | undefined {
  return paired(measurement, name, (bridge, yardstick) => bridge / yardstick);
}

/** How much the bridge's figure lies above the yardstick's, round by round. */
export function difference(measurement: Measurement, name: string): Spread | undefined {
  return paired(measurement, name, (bridge, yardstick) => bridge - yardstick);
}

function paired(
  { runs }: Measurement,
  name: string,
  compare: (bridge: number, yardstick: number) => number,
): Spread | undefined {
  const yardstick = YARDSTICKS.map((each) => runs[each]).find((each) => each !== undefined) ?? [];
  const { bridge = [] } = runs;
  const rounds = Math.min(yardstick.length, bridge.length);
  const values = Array.from({ length: rounds }, (_, round) =>
    compare(bridge[round]?.[name] ?? Number.NaN, yardstick[round]?.[name] ?? Number.NaN),
  );
  return values.length === 0 ? undefined : spreadOf(values);
}

/** Lets the contenders take turns. */
export async function alternate<Name extends Contender>(
  rounds: number,
  contenders: readonly Name[],
  run: (contender: Name) => Promise<Run>,
): Promise<Measurement["runs"]> {
  const runs = new Map(contenders.map((contender): [Name, Run[]] => [contender, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [contender, own] of runs) own.push(await run(contender));
  }
  return Object.fromEntries(runs);
}
