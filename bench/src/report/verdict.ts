import { table } from "../harness/table.ts";

/** A bar that the bridge is to reach, and where it stands. */
export interface Verdict {
  readonly row: string;
  readonly bar: string;
  readonly value: number;
  readonly reached: boolean;
}

/** The middle of some measurements; absent when there were none, which reaches no bar. */
export type Median = { readonly median: number } | undefined;

export function atLeast(row: string, bar: string, spread: Median, limit: number): Verdict {
  const value = spread?.median ?? Number.NaN;
  return { row, bar: `${bar} ≥ ${limit.toLocaleString("en")}`, value, reached: value >= limit };
}

export function atMost(row: string, bar: string, spread: Median, limit: number): Verdict {
  const value = spread?.median ?? Number.NaN;
  return { row, bar: `${bar} ≤ ${limit.toLocaleString("en")}`, value, reached: value <= limit };
}

export function verdictTable(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(({ row, bar, value, reached }) => [
    row,
    bar,
    value >= 1_000 ? Math.round(value).toLocaleString("en") : value.toFixed(2),
    reached ? "reached" : "MISSED",
  ]);
  return table(["row", "bar", "measured", ""], rows);
}
