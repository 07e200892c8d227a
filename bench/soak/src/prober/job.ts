import type { SideName } from "../sides.ts";

export const PROBES = ["live", "ready", "health"] as const;
export type ProbeName = (typeof PROBES)[number];

export interface ProberJob {
  readonly sides: readonly { readonly side: SideName; readonly monitor: number }[];
  /** Of the monitor: what is away is told only to those who have it. */
  readonly key: string;
}

/** What the prober is told when it begins. */
export interface Bridges {
  readonly pids: Readonly<Record<SideName, number>>;
}

/** An answer that came late, was none, or said that the process is not well. */
export interface OddProbe {
  /** Epoch milliseconds of the request. */
  readonly at: number;
  readonly side: SideName;
  readonly probe: ProbeName;
  /** 0: there was no answer. */
  readonly status: number;
  readonly ms: number;
  /** How much of that the main threads of the bridge and of the prober waited for a core. */
  readonly waitedMs: number;
  /** Sessions and stores that the bridge called away at its last word, not older than two seconds or so. */
  readonly away: readonly string[];
}

/** The answers of one probe, in milliseconds. */
interface ProbeTimes {
  readonly side: SideName;
  readonly probe: ProbeName;
  readonly asked: number;
  readonly median: number;
  readonly p99: number;
  readonly most: number;
  /** How often each status was answered; 0 is none. */
  readonly statuses: Readonly<Record<string, number>>;
}

export interface ProberReport {
  readonly times: readonly ProbeTimes[];
  /** Over the bar, the waiting for a core included. */
  readonly late: readonly OddProbe[];
  /** Not 200 on `live` or `health`, which a broker or store that is away must never cause. */
  readonly unwell: readonly OddProbe[];
  /** Odd ones that are counted and not listed, as there were too many. */
  readonly unlisted: number;
  /** Seconds in which the bridge itself said that something was away, by what it was. */
  readonly awaySeconds: Readonly<Record<string, number>>;
}

export const LATE_MS = 100;

/** What the bridge itself made of the time, at most: both waits at once count twice. */
export function ownMs({ ms, waitedMs }: OddProbe): number {
  return Math.max(0, ms - waitedMs);
}
