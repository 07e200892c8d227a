import type { Supervisor } from "@bridge/core";
import type { Clock } from "@bridge/ports";
import type { Family } from "./family.ts";
import { metricFamilies } from "./render-metrics.ts";
import { serverFamilies, type ServerStats } from "./server-metrics.ts";
import { waitingIn } from "./waiting-in.ts";

/** What there is to measure in a process. */
export interface Measured {
  /** `undefined`: there is no bridge yet. */
  readonly supervisor: Pick<Supervisor, "stats" | "view" | "outbox"> | undefined;
  /** Audit events that did not reach a sink, by its name. */
  readonly auditFailures: ReadonlyMap<string, number>;
  readonly servers: readonly ServerStats[];
  /** Absent: the keys of the servers do not change. */
  readonly keyRefreshFailures?: number | undefined;
}

/** Everything that is counted in a process, now. Asks the outbox what waits in it, for 2 seconds at most; never rejects. */
export async function readMetrics(measured: Measured, clock: Clock): Promise<readonly Family[]> {
  const { supervisor, servers, auditFailures, keyRefreshFailures } = measured;
  if (supervisor === undefined) return serverFamilies(servers);
  const waiting = await waitingIn(supervisor.outbox(), clock);
  const surroundings = { auditFailures, keyRefreshFailures, waiting };
  return [...metricFamilies(supervisor.stats(), supervisor.view(), surroundings), ...serverFamilies(servers)];
}
