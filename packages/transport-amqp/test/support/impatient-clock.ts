import { type Clock, systemClock } from "@bridge/ports";

/** A clock whose patience is over when a test says so. */
export function impatientClock(): { readonly clock: Clock; readonly pass: () => void } {
  const waits = new Set<() => void>();
  const clock: Clock = {
    ...systemClock,
    delay: (_ms, signal) =>
      new Promise((resolve, reject) => {
        waits.add(resolve);
        signal.addEventListener("abort", () => reject(signal.reason as Error));
      }),
  };
  return { clock, pass: () => waits.forEach((over) => over()) };
}
