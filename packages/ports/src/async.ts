import type { Clock } from "./seams.ts";

/** `promise`, or a rejection with the signal's reason if that comes first. Leaves no listener behind. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  if (signal.aborted) {
    promise.catch(() => {});
    throw signal.reason;
  }
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener("abort", onAbort);
  }
}

/** A signal that aborts after a time; disposing it clears the timer. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * Aborts with `reason` after `ms` of `clock`; a function makes the reason only then, where a call for each message would pay for it.
 * Unlike `AbortSignal.timeout`, whose timer is unreferenced, this keeps the process alive until then: a shutdown that
 * waits for nothing but its deadline must not end early, with exit code 0.
 */
export function deadline(clock: Pick<Clock, "after">, ms: number, reason: Error | (() => Error)): Deadline {
  const controller = new AbortController();
  const end = clock.after(ms, () => controller.abort(typeof reason === "function" ? reason() : reason));
  return { signal: controller.signal, [Symbol.dispose]: () => end[Symbol.dispose]() };
}

/** So often a process is to have had a turn before what it waits for is given up. */
const TURNS = 10;

/**
 * As {@link deadline}, for what ends a process when it does not come, such as a port that is bound at its start. Time in which
 * the process gets no turn counts as a tenth at most: a loop that stood still runs its timers before it hears what has happened
 * meanwhile, and would give up what is there.
 */
export function patientDeadline(clock: Pick<Clock, "after">, ms: number, reason: Error): Deadline {
  const controller = new AbortController();
  let turns = TURNS;
  let timer = clock.after(ms / TURNS, onTurn);
  function onTurn(): void {
    if (--turns === 0) controller.abort(reason);
    else timer = clock.after(ms / TURNS, onTurn);
  }
  return { signal: controller.signal, [Symbol.dispose]: () => timer[Symbol.dispose]() };
}
