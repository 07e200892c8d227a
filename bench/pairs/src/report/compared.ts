import type { Spread } from "../../../src/harness/spread.ts";
import { figureOf, roundByRound } from "../../../src/suite/measurement.ts";
import type { Contender } from "../run/contender.ts";
import type { RowResult } from "../run/results.ts";

/** What a contender's runs say about one figure. */
export function figure({ runs }: RowResult, contender: Contender, name: string): Spread | undefined {
  return figureOf(runs[contender], name);
}

/** A contender's figure as a multiple of another's, round by round. */
export function ratio(row: RowResult, contender: Contender, yardstick: Contender, name: string): Spread | undefined {
  return roundByRound(row.runs[contender], row.runs[yardstick], name, (one, other) => one / other);
}

/** How much a contender's figure lies above another's, round by round. */
export function difference(
  row: RowResult,
  contender: Contender,
  yardstick: Contender,
  name: string,
): Spread | undefined {
  return roundByRound(row.runs[contender], row.runs[yardstick], name, (one, other) => one - other);
}
