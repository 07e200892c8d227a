import { readFile } from "node:fs/promises";
import type { Usage } from "./answer.ts";

/** What a clock tick of the kernel's accounts is on every Linux that Node runs on. */
const TICK_MS = 10;
/** Of the fields after the name in `/proc/PID/stat`: CPU in user mode and in the kernel. */
const [USER_TICKS, SYSTEM_TICKS] = [11, 12] as const;
const NONE: Usage = { cpuMs: 0, peakRssBytes: 0 };

/** What a process and those that it has started have used so far, as Linux counts it; processes that are gone count no more. */
export async function treeUsage(pid: number): Promise<Usage> {
  const [own, ...children] = await Promise.all([usageOf(pid), ...(await childrenOf(pid)).map(treeUsage)]);
  return children.reduce((sum, each) => add(sum, each), own);
}

/** The process itself and all below it, children before their parents. */
export async function tree(pid: number): Promise<readonly number[]> {
  const below = await Promise.all((await childrenOf(pid)).map(tree));
  return [...below.flat(), pid];
}

async function usageOf(pid: number): Promise<Usage> {
  const [stat, status] = await Promise.all([proc(pid, "stat"), proc(pid, "status")]);
  if (stat === undefined || status === undefined) return NONE;
  // The name, in brackets, may hold anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS]);
  const peakKib = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
  return { cpuMs: ticks * TICK_MS, peakRssBytes: peakKib * 1_024 };
}

async function childrenOf(pid: number): Promise<readonly number[]> {
  const listed = (await proc(pid, `task/${pid}/children`)) ?? "";
  return listed.split(" ").filter(Boolean).map(Number);
}

async function proc(pid: number, file: string): Promise<string | undefined> {
  try {
    return await readFile(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined;
  }
}

function add(one: Usage, other: Usage): Usage {
  return { cpuMs: one.cpuMs + other.cpuMs, peakRssBytes: one.peakRssBytes + other.peakRssBytes };
}
