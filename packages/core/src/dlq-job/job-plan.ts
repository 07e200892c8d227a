/** What a job would do, as far as that can be told without doing it. Times are epoch milliseconds. */
export interface JobPlan {
  /** SHA-256 over what the job is about: 64 hexadecimal digits. */
  readonly hash: string;
  readonly total: number;
  /** False: so many were counted in time, or are by the store's own count, which has those that are held back, too. */
  readonly exact: boolean;
  /** Of one that is not exact: so many were seen. */
  readonly seen?: number | undefined;
  readonly estimatedBytes: number;
  readonly oldestFailedAt?: number | undefined;
  readonly newestFailedAt?: number | undefined;
  readonly estimatedMs: number;
  readonly configVersion: number;
  readonly lanes: readonly PlannedLane[];
  /** Of a redrive. */
  readonly predicted?: Prediction | undefined;
  readonly sample: readonly PlannedEntry[];
  readonly warnings: readonly string[];
}

export interface PlannedLane {
  readonly routeId: string;
  readonly count: number;
  /** Why it could not begin now. */
  readonly why?: string | undefined;
}

/** What would become of an entry. */
export type Predicted = "deliverable" | "expired" | "filtered" | "no_route" | "failed";

export interface Prediction extends Readonly<Record<Predicted, number>> {
  readonly examined: number;
  /** How many different ones those that were examined have. */
  readonly orderingKeys: number;
}

export interface PlannedEntry {
  readonly id: string;
  readonly subject: string;
  readonly failedAt: number;
  readonly outcome?: Predicted | undefined;
  /** Where it would go, when that may be shown. */
  readonly address?: string | undefined;
}
