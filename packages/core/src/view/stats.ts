import type { JobStats } from "../dlq-job/job-tallies.ts";
import type { HistogramStats } from "../accounting/histogram.ts";
import type { HookName } from "../hooks/bridge-hooks.ts";

/**
 * What became of a leg, one delivery to one binding (design of accounting: docs/guarantees.md).
 *
 * The sum over all dispositions and what is in flight or in the outbox equals what came in; the difference is `unaccounted` and is 0.
 */
export const DISPOSITIONS = [
  "delivered",
  "dead_lettered",
  "dropped",
  "filtered",
  "expired",
  "duplicate",
  "released",
  "abandoned",
] as const;
export type Disposition = (typeof DISPOSITIONS)[number];

/**
 * Plain numbers of one route and binding; `bindingId` is empty for what failed before a binding was chosen. `routeId` is
 * empty for the sum of routes that are configured no more, all but the last thousand.
 */
export interface LegStats {
  readonly routeId: string;
  readonly bindingId: string;
  /** Legs that came from the source. */
  readonly received: number;
  /** Legs that came from an inject or a redrive. */
  readonly injected: number;
  /** Legs that were found in the outbox when its store was opened, or that other instances have put there and that ended here. */
  readonly recovered: number;
  readonly dispositions: Readonly<Record<Disposition, number>>;
  /** Sends tried. */
  readonly attempts: number;
  readonly inFlight: number;
  /** Persisted and not finished. */
  readonly inOutbox: number;
  /** How long each send took, by how it ended: `failed` are those refused and those not answered in time. */
  readonly sends: { readonly accepted: HistogramStats; readonly failed: HistogramStats };
  /** From the receipt of a message by a bridge until the target has accepted it; in `shared_outbox` by wall clocks. */
  readonly endToEnd: HistogramStats;
  /** How long records had been in the outbox when the target accepted them, by wall clocks. */
  readonly outboxAge: HistogramStats;
}

export interface RouteStats {
  readonly routeId: string;
  /** Deliveries that hold a slot of the route. */
  readonly inFlight: number;
  /** Writes of dead letters that failed and are tried again. */
  readonly dlqWriteFailures: number;
  /** Writes of the outbox that failed, of new records and of how records ended; each is tried again. */
  readonly outboxWriteFailures: number;
  /** Settlements that the source did not take; it will redeliver. */
  readonly settleFailures: number;
  /** From taking a delivery until its source was told what to do with it; only of those that it was told of. */
  readonly hold: HistogramStats;
}

export interface SessionStats {
  readonly sessionId: string;
  readonly connected: boolean;
  /** Connections made, the first one included. */
  readonly connects: number;
  /** Connections lost and attempts that failed. */
  readonly failures: number;
}

/** The lease of an exclusive session, counted by this instance. */
export interface LeaseStats {
  readonly sessionId: string;
  /** How often this instance has got it. */
  readonly acquisitions: number;
  /** How often it had to step down from it; a release at a stop is none. */
  readonly losses: number;
  /** How often it gave it up because its session had not been connected for long, and another instance might do better. */
  readonly yields: number;
  /** Renewals that failed and were tried again. */
  readonly failures: number;
}

/** What became of the events of one hook. */
export interface HookStats {
  readonly hook: HookName;
  /** How often it was called. */
  readonly calls: number;
  /** Calls that threw, rejected, or were given up. */
  readonly failures: number;
  /** Events that it was not called for, because it was too slow. */
  readonly lost: number;
}

/** Counters that an adapter keeps of itself. */
export interface PartStats {
  readonly part: "receiver" | "sender" | "session";
  readonly id: string;
  readonly counters: Readonly<Record<string, number>>;
}

/**
 * A reading of all counters and gauges of one moment; counters are monotonic over restarts of the runtime. Histograms are
 * read when they are looked at, each as of then.
 */
export interface BridgeStats {
  readonly legs: readonly LegStats[];
  readonly routes: readonly RouteStats[];
  readonly sessions: readonly SessionStats[];
  readonly leases: readonly LeaseStats[];
  readonly parts: readonly PartStats[];
  /** Of the hooks that the program has given. */
  readonly hooks: readonly HookStats[];
  readonly redrives: number;
  /** `DLQRedriveFailures` of spec 6. */
  readonly redriveFailures: number;
  /** received + injected + recovered − dispositions − in flight − in outbox: 0 unless the engine has a bug. */
  readonly unaccounted: number;
  /** Jobs of the DLQ. */
  readonly jobs: JobStats;
}
