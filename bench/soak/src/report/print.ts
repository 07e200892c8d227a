import { spreadOf } from "../../../src/harness/spread.ts";
import { table } from "../../../src/harness/table.ts";
import { accountOf } from "../../../torture/src/report/print.ts";
import { growthOf, isFlat, LEAST_MINUTES, MOST_GROWTH } from "../growth.ts";
import { LATE_MS, ownMs } from "../prober/job.ts";
import { SIDES } from "../sides.ts";
import { type ProbeInContext, type Result, slowProbes } from "./result.ts";
import { mib, percent } from "./words.ts";

const MAX_PROBES = 12;
const MAX_SENTENCES = 25;
const MAX_HAPPENINGS = 8;

/** A soak, for people: about a page. */
export function report(result: Result, problems: readonly string[]): string {
  const { flags, judgement, vitals, standing, seconds, rest, reloads, strangers } = result;
  const troubles = result.happenings.length - reloads.length;
  const slowest = Math.max(0, ...reloads.map(({ ms }) => ms ?? 0));
  return [
    `Seed ${flags.seed}: ${flags.minutes} minutes (${seconds} s with coming to rest: ${rest}), ${flags.rate} messages a second, ${troubles} troubles, ${reloads.length} reloads (the slowest taken after ${slowest} ms)`,
    "",
    ...(judgement === undefined ? ["There is no account: a bridge did not answer."] : [accountOf(judgement)]),
    "",
    `bridge_unaccounted_messages: ${vitals.unaccounted.length === 0 ? 0 : vitals.unaccounted.join(", ")} in ${vitals.readings} readings; writes that a DLQ refused: ${vitals.dlqWriteFailures}; handed over again by sources: ${standing.handedAgain}; answered 202 ${JSON.stringify(standing.answers.outcomes)}`,
    `Hostile messages: ${JSON.stringify(strangers.written)}, refused ${JSON.stringify(strangers.refused)}; ${strangers.atSink} at their sink. Clients that never read: ${strangers.connected} connections, ${strangers.cut} cut, ${strangers.pipelinedMib} MiB of requests`,
    "",
    memoryTable(result),
    "",
    machineLine(result),
    "",
    probeTable(result),
    "",
    ...oddProbes(`Answers for which a bridge itself took more than ${LATE_MS} ms`, slowProbes(result)),
    ...oddProbes(`Answers after more than ${LATE_MS} ms in all`, result.late),
    ...oddProbes("Not well", result.unwell),
    ...(result.probes.unlisted === 0 ? [] : [`${result.probes.unlisted} more of either`]),
    `Called away by the bridges themselves, in seconds: ${JSON.stringify(result.probes.awaySeconds)}`,
    "",
    ...SIDES.flatMap((side) => logLines(result, side)),
    problems.length === 0 ? "All that has to hold held." : `What has to hold has not, with seed ${flags.seed}:`,
    ...problems.map((problem) => `- ${problem}`),
    ...(judgement === undefined || judgement.findings.length === 0 ? [] : ["", ...judgement.findings]),
  ].join("\n");
}

function memoryTable({ readings, flags }: Result): string {
  const judged = flags.minutes >= LEAST_MINUTES;
  const rows = SIDES.map((side) => {
    const growth = growthOf(readings.residentMib[side]);
    const { second, last, growth: quarters, slope, most } = growth;
    const flat = judged ? (isFlat(growth) ? "yes" : "NO") : `not judged below ${LEAST_MINUTES} minutes`;
    return [side, mib(second), mib(last), percent(quarters), percent(slope), mib(most), flat];
  });
  const head = ["Bridge", "RSS, second quarter", "last", "growth", "by its slope", "most"];
  return table([...head, `flat (bar ${percent(MOST_GROWTH)})`], rows);
}

function machineLine({ readings }: Result): string {
  const { bridgeCores, busyCores, othersCores, load } = readings;
  return `Cores used, median: bridge a ${shown(bridgeCores.a)}, bridge b ${shown(bridgeCores.b)}, everything ${shown(busyCores)}, of it by others ${shown(othersCores)}; load ${shown(load)}`;
}

function shown(values: readonly number[]): string {
  const { median, max } = spreadOf(values);
  return `${median.toFixed(2)} (most ${max.toFixed(2)})`;
}

function probeTable({ probes: { times } }: Result): string {
  const rows = times.map(({ side, probe, asked, median, p99, most, statuses }) =>
    [side, `/${probe}`, asked, median, Math.round(p99), most, JSON.stringify(statuses)].map(String),
  );
  return table(["Bridge", "Probe", "Asked", "Median ms", "p99 ms", "Most ms", "Statuses"], rows);
}

function oddProbes(title: string, probes: readonly ProbeInContext[]): readonly string[] {
  if (probes.length === 0) return [`${title}: none`];
  const worst = probes.toSorted((one, other) => ownMs(other) - ownMs(one)).slice(0, MAX_PROBES);
  return [
    `${title}: ${probes.length}, the worst of them`,
    ...worst.map(({ at, side, probe, status, ms, waitedMs, away, meanwhile }) => {
      const what = meanwhile.length === 0 ? "nothing" : meanwhile.join(", ");
      const said = away.length === 0 ? "nothing" : away.join(", ");
      return `- ${new Date(at).toISOString().slice(11, 19)} ${side} /${probe}: ${status} after ${ms} ms (${waitedMs} ms without a core); done to it: ${what}; called away: ${said}`;
    }),
  ];
}

function logLines({ logs }: Result, side: (typeof SIDES)[number]): readonly string[] {
  const digest = logs[side];
  if (digest === undefined) return [];
  const { lines, levels, sentences, happenings, stacks } = digest;
  const rows = sentences.slice(0, MAX_SENTENCES).map((one) => [String(one.lines), one.level, one.message]);
  const per = happenings
    .slice(0, MAX_HAPPENINGS)
    .map(({ what, times, lines: count }) => `${what} ${Math.round(count / times)}`);
  return [
    `Log of bridge ${side}: ${lines} lines ${JSON.stringify(levels)}, ${sentences.length} different ones. Lines while it lasted, on the average: ${per.join(", ")}`,
    "",
    table(["Lines", "Level", "Message"], rows),
    ...stacks.map((stack) => `WITH A STACK: ${stack}`),
    "",
  ];
}
