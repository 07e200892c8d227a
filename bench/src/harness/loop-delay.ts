import { monitorEventLoopDelay } from "node:perf_hooks";

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
