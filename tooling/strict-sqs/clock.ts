import { setTimeout as sleep } from "node:timers/promises";

/** Time, for the double: milliseconds that never jump. */
export interface DoubleClock {
  monotonic(): number;
  delay(ms: number, signal: AbortSignal): Promise<void>;
}

/** The machine's. */
export const machineTime: DoubleClock = {
  monotonic: () => performance.now(),
  delay: (ms, signal) => sleep(ms, undefined, { signal }),
};
