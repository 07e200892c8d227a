import { setTimeout as delay } from "node:timers/promises";

/** Waits until `holds`; fails when `progress` has not moved for `patienceMs`. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  progress: () => number,
  patienceMs = 60_000,
): Promise<void> {
  let last = progress();
  let movedAt = performance.now();
  while (!(await holds())) {
    if (progress() !== last) {
      last = progress();
      movedAt = performance.now();
    }
    if (performance.now() - movedAt > patienceMs) {
      throw new Error(`not ${what}: nothing has moved since ${last} for ${patienceMs / 1_000} s`);
    }
    await delay(20);
  }
}
