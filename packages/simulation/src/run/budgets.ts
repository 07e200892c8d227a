import type { Instance } from "./instance.ts";
import type { World } from "./world.ts";

/** How long closing takes: the parts of a runtime in parallel; then the leases; and at the end of a process the stores. */
const CLOSE_MS = 5_000;
const RELEASE_MS = 15_000;
/** Clocks that run slower than time does. */
const DRIFT = 1.02;

/**
 * How long a stop may take from when an instance that runs is asked for it: `drain_timeout`, and what it takes to close.
 * What is returned is called when it is over, and tells of one that took longer. Of an instance that stood still meanwhile
 * nothing is known.
 */
export function watchStop(world: World, instance: Instance, what: "stop" | "shutdown"): () => void {
  const { time, auditor } = world;
  const { supervisor, name } = instance;
  const [since, stood] = [time.now, instance.freezes];
  if (supervisor.state().kind !== "running") return () => {};
  const mostMs = stopMs(world, instance) + (what === "shutdown" ? CLOSE_MS * DRIFT : 0);
  return () => {
    const tookMs = time.now - since;
    if (tookMs > mostMs && instance.freezes === stood && instance.owner.frozen === undefined)
      auditor.violated(`the ${what} of ${name} took ${Math.round(tookMs)} ms, and had ${Math.round(mostMs)}`);
  };
}

/**
 * Whether an instance stood still so lately that a stop, also that of a change, may have used up its time without having run:
 * the part that was under way counts as one that could not be stopped.
 */
export function stoodStillAmidStop(world: World, instance: Instance): boolean {
  return world.time.now - instance.thawedAt <= stopMs(world, instance);
}

function stopMs({ plan }: World, { supervisor }: Instance): number {
  const closing = CLOSE_MS + (plan.leases === undefined ? 0 : RELEASE_MS);
  return (supervisor.config().bridge.drainTimeoutMs + closing) * DRIFT;
}
