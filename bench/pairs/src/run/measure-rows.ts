import type { Run } from "../../../src/suite/measurement.ts";
import type { RabbitMq } from "../brokers/rabbitmq.ts";
import type { Contender } from "./contender.ts";
import { openPairRun, withTotalCpu } from "./pair-run.ts";
import type { Failure, RowResult } from "./results.ts";
import { measureRound } from "./round.ts";
import { type Row, rowName } from "./row.ts";

export const MESSAGES = 20_000;
/** With fewer the bridge, which is more code than a script, is still being compiled while it is measured. */
export const WARM_UP = 40_000;

export interface Measuring {
  readonly rounds: number;
  readonly messages: number;
  /** Messages before the measured ones, at a window of 100 or more. */
  readonly warmUp: number;
  readonly pacedSeconds: number;
  readonly profileDir: string | undefined;
  readonly rabbit: RabbitMq | undefined;
}

/** A narrow window is slow: it shows what it does with fewer. */
const NARROW = { below: 100, share: 10 } as const;
/** With one message for each round trip, these take some seconds. */
const ONE_A_ROUND_TRIP = 100;

/** Measures row after row, and goes on after one that fails. */
export async function* measureRows(
  plan: readonly Row[],
  measuring: Measuring,
  say: (line: string) => void,
): AsyncGenerator<RowResult | Failure> {
  const total = plan.reduce((sum, { contenders }) => sum + contenders.length * measuring.rounds, 0);
  const begin = performance.now();
  let done = 0;
  for (const row of plan) {
    const name = rowName(row);
    try {
      const runs: Partial<Record<Contender, Run[]>> = {};
      for (let round = 0; round < measuring.rounds; round++) {
        const measured = await measureRound(row.contenders, round, volumeOf(row, measuring), (contender) =>
          openPairRun({ ...row, contender, profileDir: measuring.profileDir }, measuring.rabbit),
        );
        const runMs = (performance.now() - begin) / (done + measured.size);
        for (const contender of row.contenders) {
          const run = withTotalCpu(measured.get(contender) ?? {});
          (runs[contender] ??= []).push(run);
          done++;
          const leftMin = runMs * ((total - done) / 60_000);
          const rate = `${Math.round(run["perSecond"] ?? Number.NaN).toLocaleString("en")}/s`;
          say(`${done}/${total}, ${leftMin.toFixed(0)} min left: ${name}, round ${round + 1}, ${contender}: ${rate}`);
        }
      }
      const { pair, size, window, delayMs } = row;
      yield { pair, size, window, delayMs, runs };
    } catch (error) {
      say(`${name} failed: ${String(error)}`);
      yield { row: name, error: String(error) };
    }
  }
}

function volumeOf({ window, delayMs }: Row, { messages, warmUp, pacedSeconds }: Measuring) {
  const share = window < NARROW.below ? NARROW.share : 1;
  const most = delayMs > 0 && window === 1 ? ONE_A_ROUND_TRIP : Number.POSITIVE_INFINITY;
  return {
    messages: Math.min(most, Math.ceil(messages / share)),
    warmUp: Math.min(most, Math.ceil(warmUp / share)),
    pacedSeconds: delayMs > 0 ? 0 : pacedSeconds,
  };
}
