import { setTimeout as delay } from "node:timers/promises";
import type { Readings } from "../cluster/readings.ts";
import type { Aws } from "./aws.ts";

export interface Arrivals extends AsyncDisposable {
  /** Different readings that were in the queue; one that came twice counts once. */
  readonly distinct: number;
  /** Resolves when all that were published have arrived, or after ten seconds. */
  all(readings: Readings): Promise<void>;
}

/** Empties the queue until it is disposed. */
export function arrivals(aws: Aws): Arrivals {
  const seen = new Set<string>();
  const over = new AbortController();
  async function take(): Promise<void> {
    while (!over.signal.aborted) for (const body of await aws.takeMessages()) seen.add(body);
  }
  const ended = take();
  return {
    get distinct() {
      return seen.size;
    },
    async all(readings) {
      for (let tries = 0; seen.size < readings.published && tries < 50; tries++) await delay(200);
    },
    async [Symbol.asyncDispose]() {
      over.abort();
      await ended;
    },
  };
}
