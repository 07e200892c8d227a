import type { Spread } from "../../../src/harness/spread.ts";
import { ratio } from "../report/compared.ts";
import { type Contender, MODES } from "../run/contender.ts";
import type { Results, RowResult } from "../run/results.ts";
import { rowName } from "../run/row.ts";

/** How much worse a ratio may be than it was. */
export const TOLERANCE = 0.2;

type Verdict = "same" | "better" | "worse" | "missing";

/** One ratio of one row, then and now. */
export interface Finding {
  readonly row: string;
  readonly what: string;
  /** Not a number where it was not measured. */
  readonly baseline: number;
  readonly fresh: number;
  readonly verdict: Verdict;
}

interface Compared {
  readonly what: string;
  readonly contender: Contender;
  readonly yardstick: Contender;
  readonly name: string;
  readonly more: "better" | "worse";
}

const COMPARED: readonly Compared[] = [
  { what: "throughput / script", contender: "direct_hold", yardstick: "script", name: "perSecond", more: "better" },
  { what: "CPU a message / script", contender: "direct_hold", yardstick: "script", name: "cpuMicros", more: "worse" },
  { what: "memory / script", contender: "direct_hold", yardstick: "script", name: "rssMb", more: "worse" },
  {
    what: "shared_outbox / direct_hold",
    contender: "shared_outbox",
    yardstick: "direct_hold",
    name: "perSecond",
    more: "better",
  },
];

/**
 * Holds the ratios of fresh figures against those of a baseline. Every row that was planned has to be in both; absolute
 * figures say more about the machine, and are not looked at, but for messages that were lost.
 */
export function compare(baseline: Results, fresh: Results): readonly Finding[] {
  const [then, now] = [baseline, fresh].map(({ rows }) => new Map(rows.map((row) => [rowName(row), row])));
  return fresh.planned.flatMap((name) => findingsOf(name, then?.get(name), now?.get(name)));
}

/** Whether everything is at least about as good as it was. */
export function passes(findings: readonly Finding[]): boolean {
  return findings.length > 0 && findings.every(({ verdict }) => verdict === "same" || verdict === "better");
}

function findingsOf(row: string, then: RowResult | undefined, now: RowResult | undefined): readonly Finding[] {
  if (now === undefined || then === undefined) {
    const what = now === undefined ? "not measured" : "not in the baseline";
    return [{ row, what, baseline: Number.NaN, fresh: Number.NaN, verdict: "missing" }];
  }
  return [...COMPARED.filter(({ contender }) => now.runs[contender] !== undefined).map(ratioOf), lostOf(row, now)];

  function ratioOf({ what, contender, yardstick, name, more }: Compared): Finding {
    const [before, after] = [then, now].map((each) => each && ratio(each, contender, yardstick, name));
    return {
      row,
      what,
      baseline: before?.median ?? Number.NaN,
      fresh: after?.median ?? Number.NaN,
      verdict: judge(before, after, more),
    };
  }
}

/** A difference is one when the medians are further apart than is tolerated, and no round now was like one then. */
function judge(before: Spread | undefined, after: Spread | undefined, more: Compared["more"]): Verdict {
  if (before === undefined || after === undefined || Number.isNaN(before.median + after.median)) return "missing";
  const less = after.median < before.median * (1 - TOLERANCE) && after.max < before.min;
  const greater = after.median > before.median * (1 + TOLERANCE) && after.min > before.max;
  if (!less && !greater) return "same";
  return greater === (more === "better") ? "better" : "worse";
}

function lostOf(row: string, { runs }: RowResult): Finding {
  const lost = MODES.flatMap((mode) => runs[mode] ?? []).reduce((sum, run) => sum + (run["lost"] ?? 0), 0);
  return { row, what: "messages lost", baseline: 0, fresh: lost, verdict: lost > 0 ? "worse" : "same" };
}
