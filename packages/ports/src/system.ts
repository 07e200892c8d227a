import { randomBytes } from "node:crypto";
import type { Clock, Random } from "./seams.ts";

/** The longest delay that a timer of the platform can hold; a longer one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;
/** Multiples of it are spread evenly between the whole numbers. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** Calls `fire` once after `ms`, however long that is, until disposed. */
export function timer(ms: number, fire: () => void): Disposable {
  const endsAt = performance.now() + ms;
  let pending: NodeJS.Timeout;
  const arm = (leftMs: number): void => {
    pending =
      leftMs > LONGEST_MS ? setTimeout(() => arm(endsAt - performance.now()), LONGEST_MS) : setTimeout(fire, leftMs);
  };
  arm(ms);
  return { [Symbol.dispose]: () => clearTimeout(pending) };
}

let tickers = 0;

/**
 * Calls `tick` every `ms`, however long that is, until disposed; the first time after half of that to all of it. Does not
 * keep the process alive.
 *
 * Each has a phase of its own, which it keeps: intervals of the platform that begin together, one for each of a thousand
 * routes, fire in one turn for ever, and so do those that were late together.
 */
export function ticker(ms: number, tick: () => void): Disposable {
  const phase = (tickers++ * GOLDEN) % 1;
  let dueAt = performance.now() + ms * (1 - phase / 2);
  let pending: NodeJS.Timeout;
  const arm = (): void => {
    // Never 0: what takes longer than its interval would let nothing else be done.
    pending = setTimeout(fire, Math.min(LONGEST_MS, Math.max(1, dueAt - performance.now()))).unref();
  };
  const fire = (): void => {
    const late = performance.now() - dueAt;
    // A timer of the platform may be early by a part of a millisecond.
    const isDue = late > -1;
    if (isDue) dueAt += ms * (1 + Math.max(0, Math.floor(late / ms)));
    arm();
    if (isDue) tick();
  };
  arm();
  return { [Symbol.dispose]: () => clearTimeout(pending) };
}

/** The machine's time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  // Linux brings the figure of a single thread up to date every few milliseconds only.
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
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
  after: timer,
  turn: (run) => void setImmediate(run),
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
