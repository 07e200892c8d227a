import { readFile } from "node:fs/promises";
import { spreadOf } from "../../src/harness/spread.ts";

const KIB_PER_MIB = 1_024;
/** Till it has what it needs for an outage, memory may grow. */
const SETTLING_S = 60;

/** What a process had in memory during an outage, in MiB. */
export interface Memory {
  /** Where the straight line begins and ends that fits best to what was read after the first minute. */
  readonly from: number;
  readonly to: number;
  /** What its end is above its beginning, as a fraction of that; negative when it is below. */
  readonly drift: number;
  /** Of all that was read after the first minute. */
  readonly least: number;
  readonly most: number;
}

/**
 * From one reading a second over three minutes and more. A line through all of them, since memory that is collected goes up
 * and down like a saw, and any two moments may be a valley and a peak of it.
 */
export function memoryFrom(readings: readonly number[]): Memory {
  const settled = readings.slice(SETTLING_S);
  const { min: least, max: most } = spreadOf(settled);
  const { from, to } = lineThrough(settled);
  return { from, to, drift: to / from - 1, least, most };
}

/** Where the straight line begins and ends that fits best to readings at equal distances. */
export function lineThrough(readings: readonly number[]): { readonly from: number; readonly to: number } {
  const middle = (readings.length - 1) / 2;
  const mean = sum(readings) / readings.length;
  const slope =
    sum(readings.map((reading, at) => (at - middle) * (reading - mean))) /
    sum(readings.map((_, at) => (at - middle) ** 2));
  return { from: mean - slope * middle, to: mean + slope * middle };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** What a process has in memory now. @throws Error where the system does not tell it: anywhere but on Linux */
export async function residentMib(pid: number): Promise<number> {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1];
  if (kib === undefined) throw new Error(`process ${pid} has ended`);
  return Number(kib) / KIB_PER_MIB;
}
