import type { JobKind, JobSettings } from "./job.ts";

/**
 * How long a job takes when the store and the target take no time, in whole milliseconds: all entries at its rate, and the pauses of the ramp
 * that so many come to. A purge has no ramp.
 */
export function estimatedMs(kind: JobKind, { rate, ramp, rampPauseMs }: JobSettings, total: number): number {
  const steps = kind === "redrive" ? ramp : [];
  let pauses = 0;
  for (let rest = total - (steps[0] ?? total); rest > 0; rest -= steps[pauses] ?? rest) pauses++;
  return Math.ceil((total * 1_000) / rate + pauses * rampPauseMs);
}
