/** The DLQ on a file, with many entries in it. @module */
import type { DeadLetterFilter } from "@bridge/ports";
import { answer, ready } from "../harness/answer.ts";
import { loopDelayDuring } from "../harness/loop-delay.ts";
import { quantile } from "../harness/spread.ts";
import {
  BEGIN,
  CATEGORIES,
  COMBINATIONS,
  fill,
  type Filling,
  openDlq,
  routeName,
  ROUTES,
  SAMPLES,
} from "./dead-letters.ts";

const PAGE = 100;

const filling = JSON.parse(process.argv[2] ?? "") as Filling;
const store = openDlq(filling.path);
const { signal } = new AbortController();

function any(below: number): number {
  return Math.floor(Math.random() * below);
}

function filterOf(combination: number): DeadLetterFilter {
  const since = BEGIN + any(filling.entries);
  return {
    ...((combination & 1) !== 0 && { routeId: routeName(any(filling.entries)) }),
    ...((combination & 2) !== 0 && { category: CATEGORIES[any(CATEGORIES.length)] }),
    ...((combination & 4) !== 0 && { since }),
    ...((combination & 8) !== 0 && { before: since + any(filling.entries) }),
  };
}

/** Of the combination that takes the longest: a page, and one entry more to know whether there is another page. */
async function slowest(offset: number): Promise<{ readonly p50Ms: number; readonly p99Ms: number }> {
  const all: { p50Ms: number; p99Ms: number }[] = [];
  for (let combination = 0; combination < COMBINATIONS; combination++) {
    const times = new Float64Array(SAMPLES);
    for (let sample = 0; sample < SAMPLES; sample++) {
      const filter = filterOf(combination);
      const begin = performance.now();
      await store.list(filter, { limit: PAGE + 1, offset }, signal);
      times[sample] = performance.now() - begin;
    }
    const sorted = times.toSorted();
    all.push({ p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) });
  }
  return {
    p50Ms: Math.max(...all.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(...all.map(({ p99Ms }) => p99Ms)),
  };
}

async function deleteRoute(index: number): Promise<void> {
  const deleted = await store.admin.deleteWhere({ routeId: routeName(index) }, undefined, signal);
  if (deleted !== filling.entries / ROUTES) throw new Error(`${deleted} entries were deleted`);
}

answer("fill", () => fill(store, filling));
answer("page", slowest);
answer("delete", (index: number) => loopDelayDuring(() => deleteRoute(index)));
ready();
