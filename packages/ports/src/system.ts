import { randomBytes } from "node:crypto";
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
        clearTimeout(timer);
        reject(signal.reason as Error);
      };
      const timer = setTimeout(() => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      }, ms);
      signal.addEventListener("abort", onAbort, { once: true });
    }),
  every(ms, tick) {
    const timer = setInterval(tick, ms).unref();
    return { [Symbol.dispose]: () => clearInterval(timer) };
  },
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
