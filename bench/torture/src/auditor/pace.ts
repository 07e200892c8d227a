import { keyOf, laneOf } from "../message.ts";
import type { RouteName } from "../routes.ts";
import type { Ledger } from "./ledger.ts";
import type { Source } from "./source.ts";

const TICK_MS = 10;
/** A source that does not take its messages gets no more of them. */
const MAX_OPEN = 400;
/** Nor do all, when the bridge is behind by so much: it has to have a chance to settle everything in the end. */
const MAX_BEHIND_S = 20;
/** After a pause of the whole machine not everything is made up for at once. */
const MAX_TURN_MS = 250;

export interface PaceOptions {
  readonly sources: ReadonlyMap<RouteName, Source>;
  /** Messages a second over all routes. */
  readonly rate: number;
  /** Whether some messages are made so that they end in the DLQ. */
  readonly mayFail: boolean;
  readonly ledger: Ledger;
}

/** Offers messages at a steady rate, each route in its turn. Returns what stops it. */
export function pace({ sources, rate, mayFail, ledger }: PaceOptions): () => void {
  const routes = [...sources];
  let [turn, due, last] = [0, 0, performance.now()];
  const timer = setInterval(() => {
    const now = performance.now();
    due += (Math.min(MAX_TURN_MS, now - last) * rate) / 1_000;
    last = now;
    if (ledger.totals.unsettled >= rate * MAX_BEHIND_S) due = 0;
    for (; due >= 1; due--) {
      const next = routes[turn++ % routes.length];
      if (next === undefined || next[1].open >= MAX_OPEN) continue;
      const [route, source] = next;
      const { id, number } = ledger.open(route);
      const name = { route, number };
      source.offer(id, { lane: laneOf(name, mayFail), orderingKey: keyOf(name) });
    }
  }, TICK_MS);
  return () => clearInterval(timer);
}
