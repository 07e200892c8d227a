import type { Supervisor } from "@bridge/core";
import type { Clock } from "@bridge/ports";
import type { Family } from "./family.ts";
import type { ProcessFigures } from "./process/process-figures.ts";
import { METRICS } from "./metrics/all-metrics.ts";
import { familyOf, type Surroundings } from "./metrics/metric.ts";
import { serverFamilies, type ServerStats } from "./server-metrics.ts";
import { waitingIn } from "./waiting-in.ts";

/** What there is to measure in a process. */
export interface Measured extends Omit<Surroundings, "waiting"> {
  /** `undefined`: there is no bridge yet. */
  readonly supervisor: Pick<Supervisor, "stats" | "view" | "outbox"> | undefined;
  readonly servers: readonly ServerStats[];
  /** Absent: what the process takes of its machine is measured elsewhere, or not. */
  readonly process?: ProcessFigures | undefined;
}

/**
 * Everything that is counted in a process, now. Asks the outbox what waits in it, for 2 seconds at most; never rejects. What
 * is in the samples is read when they are gone through: counters are those of now, histograms and how routes get on as of then.
 */
export async function readMetrics(measured: Measured, clock: Clock): Promise<readonly Family[]> {
  const { supervisor, servers, process: figures, ...surroundings } = measured;
  const around = [...serverFamilies(servers), ...((await figures?.read()) ?? [])];
  if (supervisor === undefined) return around;
  const waiting = await waitingIn(supervisor.outbox(), clock);
  const reading = { ...surroundings, waiting, stats: supervisor.stats(), view: supervisor.view() };
  return [...METRICS.map((metric) => familyOf(metric, reading)), ...around];
}
