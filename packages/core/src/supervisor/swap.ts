import type { BridgeConfig } from "@bridge/config";
import { asError } from "../as-error.ts";
import { drainsLeft } from "../change/stranding.ts";
import { OperationError } from "../operation-error.ts";
import { discardParts } from "../runtime/discard-parts.ts";
import { without } from "../runtime/part-sets.ts";
import type { RuntimeParts } from "../runtime/runtime-parts.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { StopError } from "../runtime/stop-phases.ts";
import type { DepartureNote } from "./departure-note.ts";
import type { Foundation } from "./foundation.ts";

export interface SwapOptions {
  readonly runtime: Runtime;
  readonly foundation: Foundation;
  readonly departure: DepartureNote;
  readonly from: BridgeConfig;
  readonly to: BridgeConfig;
  /** The parts of `to`, built; those that stay as they are, are the runtime's own. */
  readonly parts: RuntimeParts;
  /** Builds the parts of `from` again, but for those that have stayed. */
  readonly rebuild: () => Promise<RuntimeParts>;
  /** Aborted when the process is to end, or the bridge cannot go on. */
  readonly root: AbortSignal;
}

export type SwapOutcome =
  | { readonly kind: "applied" }
  /** What ran before runs again. */
  | { readonly kind: "undone"; readonly error: Error }
  | { readonly kind: "terminal"; readonly cause: "wedged" | "swap_failed"; readonly error: Error }
  /** The process is ending, or the bridge cannot go on: nothing starts any more. */
  | { readonly kind: "ending" };

/**
 * Replaces what differs between two configurations: stops the old, starts the new, and when that fails the old again.
 * Old and new are never open at once, so that they may have one client id, lease or listening address.
 *
 * Aborting `signal` before all is opened counts as a failure. It does not cut short what is being stopped.
 */
export async function swap(options: SwapOptions, signal: AbortSignal): Promise<SwapOutcome> {
  const taken = { parts: false };
  try {
    return await swapping(options, taken, signal);
  } finally {
    if (!taken.parts) discardParts(without(options.parts, options.runtime.parts));
  }
}

/** `taken.parts`: whether the runtime has the new parts, and sees to their end. */
async function swapping(options: SwapOptions, taken: { parts: boolean }, signal: AbortSignal): Promise<SwapOutcome> {
  const { runtime, foundation, departure, from, to, parts, rebuild, root } = options;
  const start = async (config: BridgeConfig, next: RuntimeParts, opening: AbortSignal): Promise<void> => {
    opening.throwIfAborted();
    if (config === from) await foundation.reopen(config);
    else await foundation.open(config, opening);
    foundation.starting(config, next);
    if (next === parts) taken.parts = runtime.running;
    await runtime.adopt(next, opening);
  };
  try {
    await runtime.retire(parts, drainsLeft(from, to));
  } catch (error) {
    return root.aborted ? { kind: "ending" } : { kind: "terminal", cause: "wedged", error: asError(error) };
  }
  try {
    // What came in until its route had retired was not there when the change was looked at.
    const stranding = await foundation.stranding({ from, to, moving: false }, AbortSignal.any([signal, root]));
    if (stranding !== undefined) throw new OperationError("stranding", stranding.message);
    await departure.holds(to);
    await start(to, parts, AbortSignal.any([signal, root]));
    return { kind: "applied" };
  } catch (thrown) {
    const error = asError(thrown);
    if (root.aborted) return { kind: "ending" };
    if (error instanceof StopError) return { kind: "terminal", cause: "wedged", error };
    try {
      await departure.holdsAgain(from);
      await start(from, await rebuild(), root);
      return { kind: "undone", error };
    } catch (again) {
      if (root.aborted) return { kind: "ending" };
      const message = `${error.message}, and the former configuration cannot be applied again: ${asError(again).message}`;
      return { kind: "terminal", cause: "swap_failed", error: new AggregateError([error, again], message) };
    }
  }
}
