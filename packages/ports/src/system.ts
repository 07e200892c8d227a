import { randomBytes } from "node:crypto";
import { ticker, timer } from "./timer.ts";
import type { Clock, Random } from "./seams.ts";

/** The machine's time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  delay: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const onAbort = (): void => {
        end[Symbol.dispose]();
        reject(signal.reason as Error);
      };
      const end = timer(ms, () => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      });
      signal.addEventListener("abort", onAbort, { once: true });
    }),
  every: ticker,
};

/**
 * The platform's randomness. An id is 96 random bits of this instance and a counter: a random id a message costs more
 * than all other bookkeeping of a message together.
 */
export function systemRandom(): Random {
  const prefix = randomBytes(12).toString("base64url");
  let counter = 0;
  return {
    next: () => Math.random(),
    id: () => `${prefix}-${(counter++).toString(36)}`,
  };
}
