import { table } from "../../../src/harness/table.ts";
import type { Judgement, RouteJudgement } from "../auditor/judge.ts";
import type { Result, Verdict } from "./result.ts";

const VERDICTS = {
  proved: "Nothing is lost: every accepted message is at its target, in the outbox or in the DLQ.",
  disproved: "The bridge has broken its word:",
  void: "This run proves nothing:",
} as const satisfies Record<Verdict["kind"], string>;

const COLUMNS: Readonly<Record<string, (row: RouteJudgement) => string | number>> = {
  Route: ({ route }) => route,
  Accepted: ({ accepted }) => accepted,
  "At target": ({ atTarget }) => atTarget,
  "In outbox": ({ inOutbox }) => inOutbox,
  "In DLQ": ({ inDlq }) => inDlq,
  Unaccounted: ({ lost, atSource, withheld }) => lost + atSource + withheld,
  Repeats: ({ repeats }) => repeats,
  Bound: ({ bound }) => bound,
  Unexplained: ({ unexplained }) => unexplained,
  Overtaken: ({ overtaken }) => overtaken,
};

/** A run, for people. */
export function report(result: Result, verdict: Verdict): string {
  const { judgement, standing, vitals, kills, stops, ownEnds, flags } = result;
  const { interruptions, answers } = standing;
  const lines = [
    `Seed ${flags.seed}: ${kills === flags.kills ? kills : `${kills} of ${flags.kills}`} kills, ${stops} clean ends and ${total(result.troubles)} other troubles in ${Math.round(result.seconds)} s, mode ${flags.mode}, stores ${flags.stores}`,
    "",
    ...(judgement === undefined ? [] : [accountOf(judgement), ""]),
    `Connections to targets that ended: ${interruptions.connections}, with ${interruptions.unconfirmed} sends unconfirmed and ${interruptions.unread} confirmed too late to be sure, at most ${interruptions.largest} at once`,
    `Handed to the bridge again by its sources: ${standing.handedAgain}; requests that callers had to repeat: ${answers.unconfirmed}; answered 202 ${JSON.stringify(answers.outcomes)}`,
    `bridge_unaccounted_messages: ${vitals.unaccounted.length === 0 ? 0 : vitals.unaccounted.join(", ")} in ${vitals.readings} readings; writes that the DLQ refused: ${vitals.dlqWriteFailures}; entries read back: ${result.entriesRead}`,
  ];
  const troubles = Object.entries(result.troubles).map(([what, count]) => `${what} ${count}`);
  if (troubles.length > 0) lines.push(`Troubles: ${troubles.join(", ")}`);
  if (ownEnds.length > 0) {
    const onFullDisk = ownEnds.filter(({ diskWasFull }) => diskWasFull).length;
    lines.push(
      `The bridge ended by itself ${ownEnds.length} times, ${onFullDisk} of them at its start on a full disk, and was started again`,
    );
  }
  if (result.impossible.length > 0) {
    lines.push(`Not tried, for want of a disk to fill up: ${result.impossible.join(", ")}`);
  }
  lines.push("", VERDICTS[verdict.kind], ...verdict.problems.map((problem) => `- ${problem}`));
  if (judgement !== undefined && judgement.findings.length > 0) {
    lines.push("", "Of the first of them, with times in milliseconds since the beginning:", ...judgement.findings);
  }
  return lines.join("\n");
}

/** Where the messages of each route are. */
export function accountOf({ routes }: Judgement): string {
  return table(Object.keys(COLUMNS), routes.map(rowOf));
}

function rowOf(row: RouteJudgement): readonly string[] {
  return Object.values(COLUMNS).map((column) => String(column(row)));
}

function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
