import { alternate } from "../../../src/suite/measurement.ts";
import type { RabbitMq } from "../brokers/rabbitmq.ts";
import { runPair } from "./pair-run.ts";
import type { Failure, RowResult } from "./results.ts";
import { type Row, rowName } from "./row.ts";

export interface Measuring {
  readonly rounds: number;
  readonly messages: number;
  readonly pacedSeconds: number;
  readonly profileDir: string | undefined;
  readonly rabbit: RabbitMq | undefined;
}

const WARM_UP = 5_000;
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
      const runs = await alternate(measuring.rounds, row.contenders, async (contender, round) => {
        const run = await runPair({ ...row, ...volumeOf(row, measuring), contender }, measuring.rabbit);
        done++;
        const leftMin = ((performance.now() - begin) / done) * ((total - done) / 60_000);
        const rate = `${Math.round(run["perSecond"] ?? Number.NaN).toLocaleString("en")}/s`;
        say(`${done}/${total}, ${leftMin.toFixed(0)} min left: ${name}, round ${round + 1}, ${contender}: ${rate}`);
        return run;
      });
      const { pair, size, window, delayMs } = row;
      yield { pair, size, window, delayMs, runs };
    } catch (error) {
      say(`${name} failed: ${String(error)}`);
      yield { row: name, error: String(error) };
    }
  }
}

function volumeOf({ window, delayMs }: Row, { messages, pacedSeconds, profileDir }: Measuring) {
  const narrow = window < NARROW.below ? Math.ceil(messages / NARROW.share) : messages;
  const wanted = delayMs > 0 && window === 1 ? Math.min(ONE_A_ROUND_TRIP, narrow) : narrow;
  return {
    messages: wanted,
    warmUp: Math.min(WARM_UP, Math.ceil(wanted / 4)),
    pacedSeconds: delayMs > 0 ? 0 : pacedSeconds,
    profileDir,
  };
}
