import { cpus, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { treeUsage } from "../../src/harness/process-tree.ts";
import { residentMib } from "../../outage/src/memory.ts";
import type { Side } from "./scene.ts";
import type { SideName } from "./sides.ts";

const EVERY_MS = 10_000;
const SCRAPE_EVERY_MS = 15_000;

/** What the machine and the bridges were like, each ten seconds. */
export interface Readings {
  readonly residentMib: Readonly<Record<SideName, number[]>>;
  /** Cores that each bridge used since the reading before. */
  readonly bridgeCores: Readonly<Record<SideName, number[]>>;
  /** Cores that were busy with anything, and with what is no part of the soak. */
  readonly busyCores: number[];
  readonly othersCores: number[];
  /** Processes that wanted a core, over the last minute. */
  readonly load: number[];
}

/** Reads until `signal` aborts. */
export async function keepReading(sides: readonly Side[], signal: AbortSignal): Promise<Readings> {
  const readings: Readings = {
    residentMib: { a: [], b: [] },
    bridgeCores: { a: [], b: [] },
    busyCores: [],
    othersCores: [],
    load: [],
  };
  let before = await used(sides);
  while (!signal.aborted) {
    await sleep(EVERY_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted) break;
    const now = await used(sides);
    const elapsed = now.at - before.at;
    const busy = (now.busyMs - before.busyMs) / elapsed;
    readings.busyCores.push(round(busy));
    readings.othersCores.push(round(Math.max(0, busy - (now.oursMs - before.oursMs) / elapsed)));
    readings.load.push(round(loadavg()[0] ?? Number.NaN));
    for (const { name, bridge } of sides) {
      readings.bridgeCores[name].push(round((now.bridgesMs[name] - before.bridgesMs[name]) / elapsed));
      const resident = await residentMib(bridge.pid).catch(() => undefined);
      if (resident !== undefined) readings.residentMib[name].push(round(resident));
    }
    before = now;
  }
  return readings;
}

/** Scrapes each bridge until `signal` aborts; what is wrong is kept by its vital signs. */
export async function keepScraping(sides: readonly Side[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await Promise.all(sides.map(({ vitals }) => vitals.read()));
    await sleep(SCRAPE_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}

async function used(sides: readonly Side[]) {
  const [ours, ...bridges] = await Promise.all([process.pid, ...sides.map(({ bridge }) => bridge.pid)].map(treeUsage));
  const times = cpus().map(({ times: { user, nice, sys, irq } }) => user + nice + sys + irq);
  return {
    at: performance.now(),
    busyMs: times.reduce((sum, each) => sum + each, 0),
    oursMs: ours?.cpuMs ?? 0,
    bridgesMs: Object.fromEntries(sides.map(({ name }, at) => [name, bridges[at]?.cpuMs ?? 0])) as Record<
      SideName,
      number
    >,
  };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
