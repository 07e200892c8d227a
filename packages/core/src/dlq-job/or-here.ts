import { BridgeError, type Clock } from "@bridge/ports";
import { askStore } from "../dlq/ensure-marked.ts";
import type { JobRun } from "./job-run.ts";

/** Whoever asks after a job that is worked on here is answered by its store within this time, or by who works on it. */
const ANSWER_MS = 1_000;

/** Asks the store for a job; one that is away keeps nobody from a job that is worked on here. */
export async function orHere<Result>(
  {
    runOf,
    clock,
    signal,
  }: { readonly runOf: () => JobRun | undefined; readonly clock: Clock; readonly signal: AbortSignal },
  asked: (bound: AbortSignal) => Promise<Result>,
  here: (run: JobRun) => Result | Promise<Result>,
): Promise<Result> {
  if (runOf() === undefined) return asked(signal);
  try {
    return await askStore({ clock, signal }, asked, ANSWER_MS);
  } catch (thrown) {
    // It may be out of hand by now.
    const run = runOf();
    if (signal.aborted || !BridgeError.is(thrown) || run === undefined) throw thrown;
    return here(run);
  }
}
