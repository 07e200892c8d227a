import { setTimeout as sleep } from "node:timers/promises";
import type { OnDemandReceiver } from "../engine/on-demand-receiver.ts";
import { TRAFFIC } from "./million-job.ts";

const TICK_MS = 5;

/** What a route carried meanwhile. */
export type Carried = Readonly<Record<"trafficPerSecond" | "trafficLateMs", number>>;

/**
 * Has a route carry messages at a steady rate as long as `work` takes. Those that are due after a pause of the event loop come late,
 * and together; the route is to settle each before the next are due.
 */
export async function trafficDuring(receiver: OnDemandReceiver, work: () => Promise<unknown>): Promise<Carried> {
  const ending = new AbortController();
  let carried = 0;
  let latest = 0;
  const begin = performance.now();
  const carrying = (async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await sleep(TICK_MS);
      const elapsedMs = performance.now() - begin;
      const due = Math.floor((elapsedMs / 1_000) * TRAFFIC) - carried;
      if (due <= 0) continue;
      await receiver.run(due);
      carried += due;
      latest = Math.max(latest, performance.now() - begin - elapsedMs);
    }
  })();
  await work();
  ending.abort();
  await carrying;
  return { trafficPerSecond: (carried / (performance.now() - begin)) * 1_000, trafficLateMs: latest };
}
