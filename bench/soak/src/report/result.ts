import type { Standing } from "../../../torture/src/auditor/job.ts";
import type { Judgement } from "../../../torture/src/auditor/judge.ts";
import { brokenPromises } from "../../../torture/src/report/result.ts";
import type { OwnEnd } from "../../../torture/src/run/lives.ts";
import type { RestState } from "../../../torture/src/run/rest.ts";
import type { Vitals } from "../../../torture/src/run/vitals.ts";
import type { Flags } from "../flags.ts";
import { growthOf, isFlat, LEAST_MINUTES } from "../growth.ts";
import type { LogDigest } from "../log-digest.ts";
import { LATE_MS, type OddProbe, ownMs, type ProberReport } from "../prober/job.ts";
import type { Readings } from "../readings.ts";
import type { Reload } from "../reloads.ts";
import { type SideName, SIDES } from "../sides.ts";
import type { StrangersReport } from "../strangers/job.ts";
import type { Happening } from "../timeline.ts";
import { percent } from "./words.ts";

/** An odd probe, and what was being done to the bridges. */
export interface ProbeInContext extends OddProbe {
  readonly meanwhile: readonly string[];
}

/** All that a soak has shown. */
export interface Result {
  readonly flags: Pick<Flags, "minutes" | "rate" | "seed">;
  /** As RFC 3339. */
  readonly began: string;
  readonly seconds: number;
  readonly standing: Standing;
  readonly rest: RestState;
  /** Absent when a bridge did not answer at the end. */
  readonly judgement: Judgement | undefined;
  readonly ownEnds: readonly OwnEnd[];
  /** How the bridges ended when they were asked to: "0", or what each of them ended with. */
  readonly lastEnding: string;
  /** Of both bridges together. */
  readonly vitals: Vitals;
  readonly happenings: readonly Happening[];
  readonly reloads: readonly Reload[];
  readonly readings: Readings;
  readonly probes: Pick<ProberReport, "times" | "unlisted" | "awaySeconds">;
  /** Over the bar. Only those are held against a bridge that it took longer for than the bar without waiting for a core. */
  readonly late: readonly ProbeInContext[];
  readonly unwell: readonly ProbeInContext[];
  readonly strangers: StrangersReport;
  readonly logs: Readonly<Partial<Record<SideName, LogDigest>>>;
  /** Where logs and stores are. */
  readonly folder: string;
}

/** Probes that the bridge itself answered late, and that a store which is away does not explain. */
export function slowProbes({ late }: Result): readonly ProbeInContext[] {
  return late.filter((probe) => ownMs(probe) > LATE_MS && !probe.away.some((what) => what.startsWith("store ")));
}

/** What has not held: nothing, if all is well. */
export function problemsOf(result: Result): readonly string[] {
  const { judgement, reloads, unwell, flags, readings, rest, strangers } = result;
  const slow = slowProbes(result).length;
  const idle = judgement?.routes.filter(({ atTarget }) => atTarget === 0).map(({ route }) => route) ?? [];
  const notTaken = reloads.filter(({ ms }) => ms === undefined);
  const checks: readonly (readonly [broken: boolean, sentence: string])[] = [
    [rest === "late", "messages still moved when the time for coming to rest was up"],
    [idle.length > 0, `nothing came through ${idle.join(", ")}`],
    [notTaken.length > 0, `configurations that were not taken: ${notTaken.map(({ what }) => what).join("; ")}`],
    [slow > 0, `${slow} answers of probes took a bridge more than ${LATE_MS} ms, beyond waiting for a core`],
    [unwell.length > 0, `${unwell.length} times /live or /health was not 200, or a probe was not answered`],
    [
      Object.values(strangers.written).some((count) => count === 0) && flags.minutes >= LEAST_MINUTES,
      `hostile messages did not get in everywhere: ${JSON.stringify(strangers.written)}`,
    ],
  ];
  return [
    ...brokenPromises({ ...result, ownEnds: [...result.ownEnds] }),
    ...checks.filter(([broken]) => broken).map(([, sentence]) => sentence),
    ...SIDES.flatMap((side) => {
      const growth = growthOf(readings.residentMib[side]);
      if (flags.minutes < LEAST_MINUTES || isFlat(growth)) return [];
      return `memory of bridge ${side} is not flat: ${percent(growth.growth)}, by its slope ${percent(growth.slope)}`;
    }),
    ...SIDES.flatMap((side) => {
      const withStack = result.logs[side]?.withStack ?? 0;
      return withStack === 0 ? [] : `${withStack} lines of the log of bridge ${side} show a stack, or are no JSON`;
    }),
  ];
}
