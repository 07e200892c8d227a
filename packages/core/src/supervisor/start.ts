import { asError } from "../as-error.ts";
import { OperationError } from "../operation-error.ts";
import { changeSlices } from "../runtime/change-slices.ts";
import { discardParts } from "../runtime/discard-parts.ts";
import { Runtime } from "../runtime/runtime.ts";
import type { Standing } from "./standing.ts";

/** Starts a fresh runtime, once the former one is stopped; does nothing when one runs. */
export async function start(standing: Standing): Promise<void> {
  const { state } = standing;
  state.refuseWhenTerminal();
  if (state.is("running")) return;
  if (state.is("shutting_down")) throw shuttingDown();
  state.enter({ kind: "starting" });
  try {
    // A runtime that cannot be stopped still holds sessions and leases: a second one beside it could not be trusted.
    await standing.runtime?.stop();
  } catch (error) {
    state.becomeTerminal("wedged", error as Error);
    throw new OperationError("conflict", `the former runtime could not be stopped: ${(error as Error).message}`);
  }
  try {
    standing.runtime = undefined;
    await startRuntime(standing);
    state.enter({ kind: "running" });
  } catch (error) {
    const cause = asError(error);
    if (state.is("shutting_down")) throw shuttingDown(cause);
    if (state.is("starting")) state.enter({ kind: "paused", error: cause });
    throw new OperationError("conflict", `the bridge cannot start: ${cause.message}`, { cause });
  }
}

function shuttingDown(cause?: Error): OperationError {
  return new OperationError("conflict", "the bridge is shutting down", { cause });
}

async function startRuntime(standing: Standing): Promise<void> {
  const { seams, foundation, state, departure, root, config } = standing;
  const parts = await changeSlices(seams.clock).run(foundation.build(config), root);
  try {
    await foundation.open(config, root);
    standing.carried = config;
    await departure.holds(config);
  } catch (error) {
    discardParts(parts);
    throw error;
  }
  foundation.starting(config, parts);
  // Known before it runs: what a failed start could not close again, the next start has to hear of.
  standing.runtime = new Runtime({
    ...seams,
    parts,
    budgets: () => standing.config.bridge,
    keepLease: (lease, signal) => foundation.keepLease(lease, signal),
    leaseLost: (error) => state.becomeTerminal("lease_lost", error),
  });
  await standing.runtime.start(root);
}
