/** The longest delay that a timer of the platform can hold; a longer one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

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

/** Calls `tick` every `ms`, however long that is, until disposed. Does not keep the process alive. */
export function ticker(ms: number, tick: () => void): Disposable {
  if (ms <= LONGEST_MS) {
    const interval = setInterval(tick, ms).unref();
    return { [Symbol.dispose]: () => clearInterval(interval) };
  }
  let dueAt = performance.now() + ms;
  const look = (): void => {
    if (performance.now() < dueAt) return;
    dueAt += ms;
    tick();
  };
  // Late by at most an hour, after weeks.
  const interval = setInterval(look, LOOK_MS).unref();
  return { [Symbol.dispose]: () => clearInterval(interval) };
}

const LOOK_MS = 3_600_000;
