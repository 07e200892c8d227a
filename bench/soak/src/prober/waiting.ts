import { readFileSync } from "node:fs";

/** In `/proc/PID/schedstat`: nanoseconds that the main thread was ready to run and had no core. */
const WAITED_NS = 1;
const NS_PER_MS = 1e6;

/** How long the main thread of a process has waited for a core since it began, in milliseconds; 0 where Linux does not say. */
export function waitedForCore(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[WAITED_NS] ?? 0) / NS_PER_MS;
  } catch {
    return 0;
  }
}
