import { stat } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "@bridge/ports";
import { FileFault, obstacleAt } from "@bridge/file/internal";
import { rotatedFiles } from "./rotated-files.ts";

/** Between a full file and the one after it there is none for a moment; the writer sees within a second when it was taken away. */
const PAUSE_MS = 20;
const MOST_PAUSES = 100;

interface Look<Result> {
  readonly path: string;
  readonly clock: Clock;
  /** One pass over the files. */
  readonly look: () => Promise<Result>;
  /** Whether files that were exchanged during the pass cannot have led to it. */
  readonly isSound: (result: Result) => boolean;
}

/**
 * What a pass over an audit file and its full ones has found. The writer goes on meanwhile, renames what is full and deletes what is
 * old: a pass that has found something wrong says so only when the files were the same before and after it, and is made again
 * otherwise.
 *
 * Rejects with a FileFault that says what to do when there is nothing that can be read.
 */
export async function whileUnchanged<Result>(
  { path, clock, look, isSound }: Look<Result>,
  signal: AbortSignal,
): Promise<Result> {
  for (let pauses = 0; ;) {
    signal.throwIfAborted();
    const before = await filesAt(path);
    let told: () => Result;
    try {
      const result = await look();
      if (isSound(result)) return result;
      told = () => result;
    } catch (error) {
      told = () => {
        throw faultOf(path, error);
      };
    }
    const after = await filesAt(path);
    if (!isDeepStrictEqual(before, after)) continue;
    if (after?.current !== undefined || pauses === MOST_PAUSES) return told();
    pauses++;
    await clock.delay(PAUSE_MS, signal);
  }
}

/** `undefined` when nothing can be seen there. */
async function filesAt(path: string) {
  try {
    const full = await rotatedFiles(path);
    const current = await stat(path, { bigint: true }).catch(() => undefined);
    return { full, current: current && { dev: current.dev, ino: current.ino } };
  } catch {
    return undefined;
  }
}

function faultOf(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !("syscall" in error)) return error;
  return obstacleAt(path) ?? FileFault.of(path, error) ?? error;
}
