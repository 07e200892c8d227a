import { atLeast, atMost, type Verdict } from "../../../src/report/verdict.ts";
import { type Contender, MODES, type Peer, PEERS } from "../run/contender.ts";
import type { RowResult } from "../run/results.ts";
import { rowName } from "../run/row.ts";
import { difference, figure, ratio } from "./compared.ts";

/** The smallest window of which anything but losing nothing is asked. */
const LEAST_WINDOW = 100;
/** Of `direct_hold`, as a multiple of each peer's throughput. */
const PEER_SHARE: Readonly<Record<Peer, number>> = { mosquitto: 0.65, shovel: 0.75, "node-red": 1 };
/** Of `shared_outbox`, as a multiple of `direct_hold`'s throughput. */
const OUTBOX_SHARE: Readonly<Record<string, number>> = { "mqtt-amqp": 0.6, "amqp-amqp": 0.9 };
/** With a slow link: how much more the wide window carries than a window of one. */
const PIPELINED = 200;

/** Holds figures against the bars: medians, and the median of the rounds' ratios. */
export function barVerdicts(rows: readonly RowResult[]): readonly Verdict[] {
  return [...rows.flatMap(barsOf), ...pipelining(rows)];
}

function barsOf(row: RowResult): readonly Verdict[] {
  const name = rowName(row);
  const lost = MODES.filter((mode) => row.runs[mode] !== undefined).map((mode) =>
    atMost(name, `messages lost, ${mode}`, figure(row, mode, "lost"), 0),
  );
  if (row.window < LEAST_WINDOW) return lost;
  return [...(row.delayMs > 0 ? [scriptRate(row, name)] : speedBars(row, name)), ...lost];
}

function speedBars(row: RowResult, name: string): readonly Verdict[] {
  const toScript = (figureName: string) => ratio(row, "direct_hold", "script", figureName);
  const latency = difference(row, "direct_hold", "script", "p50Ms");
  const outboxShare = OUTBOX_SHARE[row.pair];
  return [
    ...(has(row, "direct_hold")
      ? [
          scriptRate(row, name),
          atMost(name, "CPU a message / script", toScript("cpuMicros"), 1.25),
          atMost(name, "memory / script", toScript("rssMb"), 1.5),
          // Who could not keep up with 1,000 a second was not asked to.
          ...(Number.isNaN(latency?.median ?? Number.NaN)
            ? []
            : [atMost(name, "p50 at 1,000/s − script, ms", latency, 0.1)]),
        ]
      : []),
    ...(outboxShare !== undefined && has(row, "direct_hold") && has(row, "shared_outbox")
      ? [atLeast(name, "shared_outbox / direct_hold", rate(row, "shared_outbox", "direct_hold"), outboxShare)]
      : []),
    ...PEERS.filter((peer) => has(row, "direct_hold") && has(row, peer)).map((peer) =>
      atLeast(name, `throughput / ${peer}`, rate(row, "direct_hold", peer), PEER_SHARE[peer]),
    ),
  ];
}

function scriptRate(row: RowResult, name: string): Verdict {
  return atLeast(name, "throughput / script", rate(row, "direct_hold", "script"), 0.95);
}

function pipelining(rows: readonly RowResult[]): readonly Verdict[] {
  return rows
    .filter(({ delayMs, window }) => delayMs > 0 && window > PIPELINED)
    .flatMap((wide) => {
      const narrow = rows.find(
        ({ delayMs, window, pair }) => delayMs === wide.delayMs && window === 1 && pair === wide.pair,
      );
      if (narrow === undefined) return [];
      const [most, least] = [wide, narrow].map((row) => figure(row, "direct_hold", "perSecond")?.median ?? Number.NaN);
      const gain = { median: (most ?? Number.NaN) / (least ?? Number.NaN) };
      return [atLeast(rowName(wide), "throughput / that of window 1", gain, PIPELINED)];
    });
}

function rate(row: RowResult, contender: Contender, yardstick: Contender) {
  return ratio(row, contender, yardstick, "perSecond");
}

function has({ runs }: RowResult, contender: Contender): boolean {
  return runs[contender] !== undefined;
}
