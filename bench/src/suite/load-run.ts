import type { Usage } from "../harness/answer.ts";
import type { Child } from "../harness/child.ts";
import type { Flood, Pace } from "../load/flow.ts";
import type { Balance, Latency } from "../load/ledger.ts";
import type { Run } from "./measurement.ts";

/** How much goes through a contender, and how. */
export interface Volume {
  readonly window: number;
  /** Messages before the measured ones, and again as many until some seconds have passed. */
  readonly warmUp: number;
  readonly messages: number;
  /** Seconds at 1,000 messages a second; 0 measures no latency. */
  readonly pacedSeconds: number;
}

/** Whoever carries the messages, as far as it is measured from outside. */
export interface Carrier {
  usage(): Promise<Usage>;
}

/** What else is to be looked at when the flood begins and when it has ended. */
export interface Around {
  before(): Promise<void>;
  after(): Promise<void>;
}

export const LOAD = new URL("../load/main.ts", import.meta.url);
export const PHASE_TIMEOUT_MS = 120_000;
/** Compilers work on threads of their own, which a full machine gives little time: they count by the clock. */
const WARM_UP_MS = 3_000;
const PACE_PER_SECOND = 1_000;
/** Who carries less than so many times the pace is not asked to: its latency would be that of a queue. */
const HEADROOM = 1.5;
/** Messages between the two ends of the load, as a multiple of the window: there is always one more to take. */
const OUTSTANDING = 4;

/** Has the load go through a contender: as much as goes, then at a pace. */
export async function measure(
  { window, warmUp, messages, pacedSeconds }: Volume,
  load: Child,
  contender: Carrier,
  around?: Around,
): Promise<Run> {
  const outstanding = OUTSTANDING * window;
  const flood = (count: number): Promise<number> =>
    load.ask<number>("flood", { messages: count, outstanding } satisfies Flood, PHASE_TIMEOUT_MS);

  const begin = performance.now();
  do await flood(warmUp);
  while (performance.now() - begin < WARM_UP_MS);
  await around?.before();
  const before = await contender.usage();
  const elapsedMs = await flood(messages);
  const after = await contender.usage();
  await around?.after();
  const perSecond = (messages / elapsedMs) * 1_000;
  const keepsUp = perSecond >= HEADROOM * PACE_PER_SECOND;
  const latency = pacedSeconds > 0 && keepsUp ? await paced(load, pacedSeconds) : undefined;
  const { lost, duplicated, refused } = await load.ask<Balance>("balance", undefined, PHASE_TIMEOUT_MS);

  const cpuMs = after.cpuMs - before.cpuMs;
  return {
    perSecond,
    cpuMicros: (cpuMs / messages) * 1_000,
    /** The share of a core that the contender used: far below 1, something else set the pace. */
    busy: cpuMs / elapsedMs,
    rssMb: after.peakRssBytes / 2 ** 20,
    ...latency,
    lost,
    duplicated,
    refused,
  };
}

async function paced(load: Child, seconds: number): Promise<Latency> {
  const pace = (length: number): Promise<Latency> =>
    load.ask<Latency>("pace", { perSecond: PACE_PER_SECOND, seconds: length } satisfies Pace, PHASE_TIMEOUT_MS);
  // The first half second still pays for what the flood left behind.
  await pace(0.5);
  return pace(seconds);
}
