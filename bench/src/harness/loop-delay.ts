import { monitorEventLoopDelay } from "node:perf_hooks";
import { quantile } from "./spread.ts";

/** How late a timer of one millisecond fired, that millisecond included. */
export type LoopDelay = Readonly<Record<"loopP99Ms" | "loopMaxMs", number>>;

const RESOLUTION_MS = 1;
const NANOS_PER_MS = 1_000_000;

/** How long the event loop was kept from its timers while the work went on. */
export async function loopDelayDuring(work: () => Promise<unknown>): Promise<LoopDelay> {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  await work();
  delay.disable();
  return { loopP99Ms: delay.percentile(99) / NANOS_PER_MS, loopMaxMs: delay.max / NANOS_PER_MS };
}

/** How much CPU the main thread took between two chances of a timer: what the loop would be held for on a machine of its own. */
export type LoopWork = Readonly<Record<"turnP99Ms" | "turnMaxMs", number>>;

/** The same, and what of it is the process's own doing: on a busy machine the rest is others'. */
export async function loopWorkDuring(work: () => Promise<unknown>): Promise<LoopDelay & LoopWork> {
  const turns: number[] = [];
  let before = process.threadCpuUsage();
  const look = setInterval(() => {
    const now = process.threadCpuUsage();
    turns.push((now.user - before.user + now.system - before.system) / 1_000);
    before = now;
  }, RESOLUTION_MS);
  const delay = await loopDelayDuring(work);
  clearInterval(look);
  const sorted = Float64Array.from(turns).toSorted();
  return { ...delay, turnP99Ms: quantile(sorted, 0.99), turnMaxMs: sorted.at(-1) ?? Number.NaN };
}
