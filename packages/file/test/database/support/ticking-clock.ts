import { type Clock, systemClock } from "@bridge/ports";

/** A clock whose periods end when the test says so. */
export function tickingClock(): { readonly clock: Clock; readonly tick: () => void } {
  const ticks = new Set<() => void>();
  const every = (_: number, tick: () => void): Disposable => {
    ticks.add(tick);
    return { [Symbol.dispose]: () => ticks.delete(tick) };
  };
  return { clock: { ...systemClock, every }, tick: () => ticks.forEach((tick) => tick()) };
}
