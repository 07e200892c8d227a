import { on } from "node:events";
import type { Worker } from "node:worker_threads";
import { startThread } from "@bridge/ports/internal";
import type { Told } from "./told.ts";

/** Promises of a killed process never settle, and Node keeps them for the life of the thread. */
const SEEDS_OF_A_THREAD = 200;

/** What a thread is told when it begins. */
export interface ThreadData {
  /** The folder for scenarios. */
  readonly save: string | undefined;
}

export interface InThreadsOptions extends ThreadData {
  /** How many seeds a thread runs before a new one replaces it. Default: 200. */
  readonly seedsOfAThread?: number;
}

/**
 * Runs seeds one after another, on demand, in threads that are replaced now and then. So memory stays bounded, whatever
 * a run leaves behind.
 *
 * @throws Error when a run ends its thread, or throws
 */
export async function* inThreads(
  seeds: Iterable<number>,
  { save, seedsOfAThread = SEEDS_OF_A_THREAD }: InThreadsOptions,
): AsyncGenerator<Told, void, undefined> {
  let thread: SeedThread | undefined;
  try {
    for (const seed of seeds) {
      thread ??= new SeedThread({ save });
      const told = await thread.tell(seed);
      // To shrink one takes hundreds of runs.
      if (told.isViolated || thread.seeds >= seedsOfAThread) {
        await thread[Symbol.asyncDispose]();
        thread = undefined;
      }
      yield told;
    }
  } finally {
    await thread?.[Symbol.asyncDispose]();
  }
}

class SeedThread implements AsyncDisposable {
  /** How many it has run. */
  seeds = 0;
  readonly #worker: Worker;
  readonly #answers: AsyncIterator<[Told]>;

  constructor(workerData: ThreadData) {
    // It takes over what Node was started with, and so reads sources as well.
    this.#worker = startThread(new URL("program.ts", import.meta.url), { workerData });
    this.#answers = on(this.#worker, "message", { close: ["exit"] }) as AsyncIterator<[Told]>;
  }

  async tell(seed: number): Promise<Told> {
    this.seeds++;
    this.#worker.postMessage(seed, []);
    const answer = await this.#answers.next();
    if (answer.done === true) throw new Error(`seed ${seed} has ended the thread that ran it`);
    return answer.value[0];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}
