import type { EXIT_CODES } from "../../../src/harness/run-program.ts";
import type { Flags } from "../flags.ts";
import type { Judgement, RouteJudgement } from "../auditor/judge.ts";
import type { Reckoning } from "../run/reckoning.ts";
import type { Tally } from "../run/tally.ts";
import type { Vitals } from "../run/vitals.ts";

/** All that a run has found out. */
export interface Result extends Reckoning, Pick<Tally, "kills" | "stops" | "ownEnds" | "troubles" | "lastTroubles"> {
  readonly flags: Pick<Flags, "seed" | "kills" | "leastKills" | "rate" | "mode" | "routes" | "stores" | "troubles">;
  /** When it began, as RFC 3339. */
  readonly began: string;
  readonly seconds: number;
  /** Lanes that were wanted and could not be had here. */
  readonly impossible: readonly string[];
  readonly vitals: Vitals;
  /** Where the logs are. */
  readonly folder: string;
}

export interface Verdict {
  readonly kind: keyof typeof EXIT_CODES;
  readonly problems: readonly string[];
}

/** Holds what was found against what was promised. */
export function verdictOn(result: Result): Verdict {
  const broken = brokenPromises(result);
  if (broken.length > 0) return { kind: "disproved", problems: broken };
  const gaps = gapsIn(result);
  return { kind: gaps.length > 0 ? "void" : "proved", problems: gaps };
}

/** What a bridge has to keep however it was treated, as far as it has not. */
export function brokenPromises({
  judgement,
  vitals,
  rest,
  lastEnding,
  standing,
  ownEnds,
}: Pick<Result, "judgement" | "vitals" | "rest" | "lastEnding" | "standing" | "ownEnds">): readonly string[] {
  if (judgement === undefined) {
    return rest === "late" ? [] : ["the bridge did not answer at the end, with everything mended"];
  }
  const sum = (field: "lost" | "unexplained" | "overtaken"): number => sumOf(judgement, field);
  const unwanted = Object.keys(standing.answers.outcomes).filter((outcome) => !WANTED.has(outcome));
  const refused = Object.entries(standing.answers.refused).map(([status, count]) => `${count} × ${status}`);
  const [crash] = ownEnds.filter(({ diskWasFull }) => !diskWasFull);
  const checks: readonly (readonly [broken: boolean, sentence: string])[] = [
    // While messages still move, one may have left the one place and not have been seen in the other.
    [sum("lost") > 0 && rest !== "late", `${sum("lost")} messages are LOST`],
    [vitals.unaccounted.length > 0, `bridge_unaccounted_messages was ${vitals.unaccounted.join(", ")}`],
    [sum("unexplained") > 0, `${sum("unexplained")} repeats that nothing in flight explains`],
    [sum("overtaken") > 0, `${sum("overtaken")} messages came after a younger one of their ordering key`],
    [judgement.spoiled.length > 0, `${judgement.spoiled.length} messages arrived spoiled`],
    [judgement.strangers.length > 0, `${judgement.strangers.length} messages arrived that nobody had sent`],
    [refused.length > 0, `requests were refused that should be taken: ${refused.join(", ")}`],
    [unwanted.length > 0, `messages were given up against the policy: ${unwanted.join(", ")}`],
    [crash !== undefined, `the bridge ended by itself, with room on its disks: ${crash?.lastWords}`],
    [rest === "stuck", `nothing moved any more, with everything mended: ${unfinishedIn(judgement)}`],
    [lastEnding !== "0", `the bridge ended with ${lastEnding} when it was asked to stop at rest`],
  ];
  return checks.filter(([broken]) => broken).map(([, sentence]) => sentence);
}

/** What a caller may be told of a message of the torture. */
const WANTED: ReadonlySet<string> = new Set(["delivered", "persisted", "duplicate", "dead_lettered"]);

function gapsIn({ judgement, rest, kills, flags }: Result): readonly string[] {
  if (judgement === undefined) return ["this machine is too slow: the bridge was not up when the time was"];
  const withheld = rest === "late" ? 0 : sumOf(judgement, "withheld");
  const idle = judgement.routes.filter((route) => route.atTarget === 0).map(({ route }) => route);
  const gaps: string[] = [];
  if (withheld > 0) gaps.push(`the source's broker has lost ${withheld} messages before the bridge saw them`);
  if (rest === "late") {
    gaps.push(`this machine is too slow: the time was up while messages still moved, ${unfinishedIn(judgement)}`);
  }
  if (kills < flags.leastKills) {
    gaps.push(
      `this machine is too slow: there was time for ${kills} kills only, and ${flags.leastKills} are the least`,
    );
  }
  if (idle.length > 0) gaps.push(`nothing came through ${idle.join(", ")}`);
  return gaps;
}

function unfinishedIn(judgement: Judgement): string {
  const sum = (field: "atSource" | "withheld" | "inOutbox" | "lost"): number => sumOf(judgement, field);
  return `${sum("atSource") + sum("withheld")} messages are still at their sources, ${sum("inOutbox")} in the outbox, ${sum("lost")} not found`;
}

function sumOf(judgement: Judgement, field: Exclude<keyof RouteJudgement, "route">): number {
  return judgement.routes.reduce((sum, route) => sum + route[field], 0);
}
