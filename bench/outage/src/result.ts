import type { Balance } from "../../src/load/ledger.ts";
import { WINDOW } from "./document.ts";
import type { Flags } from "./flags.ts";
import type { Memory } from "./memory.ts";

/** All that an outage has shown. Memory is in MiB. */
export interface Result {
  readonly flags: Pick<Flags, "mode" | "minutes" | "rate" | "size">;
  /** As RFC 3339. */
  readonly began: string;
  readonly memory: Memory;
  /** Resident memory, each second of the outage. */
  readonly readings: readonly number[];
  /** The same when all had arrived. */
  readonly afterwards: number;
  /** What had not arrived at the end of the outage, what the bridge held of it, and how often it had tried to send. */
  readonly missing: number;
  readonly inOutbox: number;
  readonly inFlight: number;
  readonly attempts: number;
  readonly recoverySeconds: number;
  readonly balance: Balance;
  /** `bridge_unaccounted_messages` at the end of the outage, and when all had arrived. */
  readonly unaccounted: readonly number[];
  /** How the bridge ended when it was asked to. */
  readonly lastEnding: string;
  /** Where its log is. */
  readonly folder: string;
}

/** Above it, memory is not called flat. */
const MOST_DRIFT = 0.05;

/** What the bridge has not kept of its promises: nothing, if all is well. */
export function problemsOf({
  memory,
  balance,
  unaccounted,
  lastEnding,
  flags,
  missing,
  inOutbox,
}: Result): readonly string[] {
  const checks: readonly (readonly [broken: boolean, sentence: string])[] = [
    [!(memory.drift <= MOST_DRIFT), `memory is not flat: ${trend(memory)}`],
    [balance.lost > 0, `${balance.lost} messages have not arrived`],
    [
      balance.duplicated > WINDOW,
      `${balance.duplicated} messages have arrived twice, and ${WINDOW} at most were in flight when the target went away`,
    ],
    [unaccounted.some((count) => count !== 0), `bridge_unaccounted_messages was ${unaccounted.join(", ")}`],
    [
      flags.mode === "shared_outbox" && inOutbox < missing,
      `${inOutbox} of ${missing} messages were in the outbox at the end of the outage`,
    ],
    [lastEnding !== "0", `the bridge ended with ${lastEnding} when it was asked to stop at rest`],
  ];
  return checks.filter(([broken]) => broken).map(([, sentence]) => sentence);
}

/** An outage, for people. */
export function report(result: Result, problems: readonly string[]): string {
  const { flags, memory, balance, recoverySeconds, afterwards, missing, inOutbox, inFlight, attempts } = result;
  const { least, most } = memory;
  return [
    `${flags.mode}: target away for ${flags.minutes} minutes, ${flags.rate} messages of ${flags.size} bytes a second, ${balance.sent} in all`,
    `Resident memory: ${trend(memory)}; from ${mib(least)} to ${mib(most)}, ${mib(afterwards)} when all had arrived`,
    `At the end of the outage: ${missing} had not arrived, ${inOutbox} in the outbox, ${inFlight} in flight, ${attempts} sends tried`,
    `With the target back: all but ${balance.lost} arrived in ${recoverySeconds.toFixed(0)} s, ${balance.duplicated} of them twice`,
    "",
    problems.length === 0 ? "Memory is flat, and nothing is lost." : "The bridge has broken its word:",
    ...problems.map((problem) => `- ${problem}`),
  ].join("\n");
}

function trend({ from, to, drift }: Memory): string {
  return `its trend after the first minute goes from ${mib(from)} to ${mib(to)} (${percent(drift)})`;
}

function mib(amount: number): string {
  return `${amount.toFixed(1)} MiB`;
}

function percent(fraction: number): string {
  return `${fraction < 0 ? "" : "+"}${(100 * fraction).toFixed(1)} %`;
}
