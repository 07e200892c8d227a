import type { BridgeConfig, Registry } from "@bridge/config";
import type { DeadLetter, DeadLetterHead, DlqAdmin, DlqStore, Seams } from "@bridge/ports";
import type { DeliveredEntries } from "../dlq/delivered-entries.ts";
import type { InjectResult } from "../route/inject-result.ts";
import type { Job } from "./job.ts";
import type { JobTallies } from "./job-tallies.ts";
import type { ReplayRequest } from "./replay-id.ts";

/** A store in which jobs can live. */
export type JobsStore = DlqStore & Required<Pick<DlqStore, "page" | "marks" | "jobs">> & { readonly admin: DlqAdmin };

/**
 * Whether entries of a route could be redriven here and now.
 *
 * - `soon`: it is being replaced, which takes a moment.
 * - `waits`: it cannot, here; whether it can elsewhere is not known.
 */
export type LaneStanding = { readonly kind: "ready" | "soon" } | { readonly kind: "waits"; readonly why: string };

/** What the engine does of its own accord, for whoever keeps a record of it. */
export interface JobEvent {
  readonly kind: "halted" | "adopted" | "ended";
  readonly job: Job;
}

/** What the job engine stands on. */
export interface JobParts extends Seams {
  readonly instanceId: string;
  /** This process, told from all others. */
  readonly holder: string;
  readonly registry: Registry;
  readonly config: () => BridgeConfig;
  /** The DLQ store, once it is open. */
  readonly store: () => DlqStore | undefined;
  readonly standing: (routeId: string) => LaneStanding;
  /** @throws OperationError as a redrive by ids does */
  readonly replay: (entry: DeadLetter, signal: AbortSignal, job: ReplayRequest) => Promise<InjectResult>;
  /** Whether an outbox has a record that redrives it. */
  readonly redrives: (entry: Pick<DeadLetterHead, "id" | "routeId">, signal: AbortSignal) => Promise<boolean>;
  /** The entries that some redrive of this process is working on. */
  readonly busy: Set<string>;
  readonly delivered: DeliveredEntries;
  readonly tallies: JobTallies;
  readonly tell: (event: JobEvent) => void;
}

export function holdsJobs(store: DlqStore): store is JobsStore {
  return typeof store.page === "function" && [store.marks, store.jobs, store.admin].every((part) => part !== undefined);
}
