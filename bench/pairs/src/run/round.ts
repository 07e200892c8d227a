import type { LoadRun, Volume } from "../../../src/suite/load-run.ts";
import { inTurn, type Run } from "../../../src/suite/measurement.ts";

/**
 * A flood is cut into so many. The speed of a virtual machine drifts, up to twofold within minutes: what is compared has to be
 * measured within seconds.
 */
const SLICES = 5;
const PACED_TURN_SECONDS = 1;

/** A contender that is ready, with its load; it and its brokers go when disposed. */
export interface Opened extends AsyncDisposable {
  readonly load: Pick<LoadRun, "warmUp" | "resume" | "flood" | "pace" | "keepsUp" | "result">;
}

/**
 * Starts all contenders, and has them carry in turn, a slice each, until each has carried everything.
 *
 * @throws Error that names the contender that failed; all of them have ended then
 */
export async function measureRound<Name extends string>(
  contenders: readonly Name[],
  round: number,
  volume: Omit<Volume, "window">,
  open: (contender: Name) => Promise<Opened>,
): Promise<ReadonlyMap<Name, Run>> {
  await using opened = new AsyncDisposableStack();
  const loads = new Map<Name, Opened["load"]>();
  for (const contender of inTurn(contenders, round)) {
    loads.set(contender, opened.use(await naming(contender, () => open(contender))).load);
  }
  const eachInTurn = async (turn: number, work: (load: Opened["load"]) => Promise<void>): Promise<void> => {
    for (const [contender, load] of inTurn([...loads], turn)) {
      await naming(contender, async () => {
        await load.resume();
        await work(load);
      });
    }
  };
  await eachInTurn(0, (load) => load.warmUp(volume.warmUp));
  for (const [turn, messages] of slices(volume.messages).entries()) {
    await eachInTurn(turn, (load) => load.flood(messages));
  }
  for (let turn = 0; turn * PACED_TURN_SECONDS < volume.pacedSeconds; turn++) {
    await eachInTurn(turn, async (load) => {
      if (load.keepsUp) await load.pace(PACED_TURN_SECONDS);
    });
  }
  const runs = new Map<Name, Run>();
  for (const [contender, load] of loads) runs.set(contender, await naming(contender, () => load.result()));
  return runs;
}

/** Slices that differ by one message at most. */
function slices(messages: number): readonly number[] {
  return Array.from({ length: SLICES }, (_, slice) => Math.floor((messages + slice) / SLICES));
}

async function naming<Value>(contender: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`${contender}: ${message}`, { cause: error });
  }
}
