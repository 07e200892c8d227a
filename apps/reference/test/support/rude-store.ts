import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import type { Trouble } from "./away-store.ts";
import { StoredBridge, type StoreKind } from "./stored-bridge.ts";
import { until } from "./until.ts";

const ROUNDS = 6;
/** Within which a fault that shows has to be told. */
const TOLD_MS = 20_000;

export interface RudeStore {
  readonly store: StoreKind;
  readonly troubles: readonly Trouble[];
  /** Those of them that keep only some messages out, so that readiness need not tell them. */
  readonly passing?: readonly Trouble[];
  readonly seed: number;
}

/**
 * One trouble after the other under traffic, with changes in between. Nothing ends, readiness tells it, and it recovers by
 * itself. Returns what was taken and lost.
 */
export async function throughTroubles({ store, troubles, passing = [], seed }: RudeStore): Promise<readonly string[]> {
  const next = mulberry(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(next() * items.length)] as Item;
  await using site = await StoredBridge.open(store);
  site.run();
  await site.until("full");
  const over = new AbortController();
  const traffic = (async () => {
    while (!over.signal.aborted) {
      await site.send("kept");
      await delay(20);
    }
  })();
  let inFlight = 10;
  for (let round = 0; round < ROUNDS; round++) {
    const trouble = pick(troubles);
    await site.begin(trouble);
    if (next() < 0.3) site.edit(`max_in_flight: ${inFlight}`, `max_in_flight: ${++inFlight}`);
    const what = `seed ${seed}, round ${round}: ${trouble}`;
    const shows = !passing.includes(trouble);
    if (shows) await told(site, `${what} is told`);
    const { taken } = site;
    const watch = site.watchLevel();
    await delay(next() * 4_000);
    if (next() < 0.3) site.edit(`max_in_flight: ${inFlight}`, `max_in_flight: ${++inFlight}`);
    const full = await watch.end();
    // A small message may still have had room.
    if (shows && site.taken === taken) expect(full, `${what}: times that it was full all the same`).toBe(0);
    await site.end();
    if (next() < 0.7) await site.until("full");
  }
  over.abort();
  await traffic;
  await site.insist("kept");
  const arrived = () => site.missing.length === 0;
  await until(`seed ${seed}: all arrived`, arrived, () => site.target.asked);
  await site.until("full");
  site.bridge.kill("SIGTERM");
  expect(await site.bridge.ended).toBe(0);
  return site.missing;
}

async function told(site: StoredBridge, what: string): Promise<void> {
  const isTold = async (): Promise<boolean> => (await site.level()) !== "full";
  await until(what, isTold, () => 0, TOLD_MS);
}

/** Numbers from 0 to 1, the same ones for a seed. */
function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
