import { runPhases, StopError } from "../runtime/stop-phases.ts";
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

/** Stops the runtime, hooks and stores for good. @throws StopError naming the phases that failed */
export async function close({ runtime, foundation, seams }: Standing): Promise<void> {
  const failures = await Promise.resolve(runtime?.stop()).then(
    () => [],
    (error: unknown) =>
      error instanceof StopError
        ? error.phases.map((phase, index) => ({ phase, error: error.errors[index] as unknown }))
        : [{ phase: "runtime", error }],
  );
  // Before the stores, which hooks may load dead letters from.
  await foundation.hooks.end();
  const closes = await runPhases(seams.clock, foundation.stores.closes());
  if (failures.length + closes.length > 0) throw new StopError([...failures, ...closes]);
}
