import { execFile } from "node:child_process";
import { cpus, loadavg, release, totalmem } from "node:os";
import { promisify } from "node:util";

/** What the figures were taken on. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly kernel: string;
  readonly node: string;
  readonly mosquitto: string;
  /** Processes that wanted a core, over the last minute: above 0.5 before anything begins, others are at work too. */
  readonly load: number;
}

export async function machine(): Promise<Machine> {
  const [processor] = cpus();
  return {
    cpu: processor?.model ?? "unknown",
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
    mosquitto: await mosquittoVersion(),
    load: loadavg()[0] ?? Number.NaN,
  };
}

async function mosquittoVersion(): Promise<string> {
  // It prints its usage and leaves with an error.
  const { stdout = "" } = await promisify(execFile)("mosquitto", ["-h"]).catch((error: { stdout?: string }) => error);
  return /version (\S+)/.exec(stdout)?.[1] ?? "none";
}
