import { deadline, orAborted } from "@bridge/ports/internal";
import type { JobOwner } from "../dlq-job/job-owner.ts";
import { type PhaseFailure, runPhases, StopError } from "../runtime/stop-phases.ts";
import type { Operations } from "./operations.ts";
import type { Standing } from "./standing.ts";

/** Stops the runtime. A later call joins what an earlier one began, and is told the same. */
export async function stop({ state, runtime }: Standing): Promise<void> {
  if (!state.is("running")) return runtime?.stop();
  const pause = (failure?: { readonly error: Error }): void => {
    if (state.is("stopping")) state.enter({ kind: "paused", ...failure });
  };
  state.enter({ kind: "stopping", phases: [] });
  try {
    await runtime?.stop();
    pause();
  } catch (error) {
    pause({ error: error as Error });
    throw error;
  }
}

/** Once the runtime is stopped nothing is sent any more; what is left is to delete what was delivered, and to write where jobs are. */
const LAST_WORDS_MS = 5_000;
/** Of them: what a job has asked its store for has so long to be answered. Nobody could tell later what it has done. */
const ANSWERS_MS = 3_000;

/** Stops the runtime, redrives, jobs, hooks and stores for good. @throws StopError naming the phases that failed */
export async function close(
  { runtime, foundation, seams }: Standing,
  jobs: JobOwner,
  operations: Operations,
): Promise<void> {
  // Beside the runtime, in whose quiesce what is under way settles.
  const left = jobs.leave();
  const failures: PhaseFailure[] = await Promise.resolve(runtime?.stop()).then(
    () => [],
    (error: unknown) =>
      error instanceof StopError
        ? error.phases.map((phase, index) => ({ phase, error: error.errors[index] as unknown }))
        : [{ phase: "runtime", error }],
  );
  using late = deadline(seams.clock, LAST_WORDS_MS, new Error("the jobs could not be written in time"));
  using answered = deadline(seams.clock, ANSWERS_MS, new Error("the DLQ store did not answer in time"));
  await orAborted(left, answered.signal).catch(() => {});
  jobs.cut();
  await orAborted(left, late.signal).catch((error: unknown) => failures.push({ phase: "jobs", error }));
  await operations.settle(late.signal);
  // Before the stores, which hooks may load dead letters from.
  await foundation.hooks.end();
  const closes = await runPhases(seams.clock, foundation.stores.closes());
  if (failures.length + closes.length > 0) throw new StopError([...failures, ...closes]);
}
