import type { JobStats } from "../dlq-job/job-tallies.ts";
import type { HistogramStats } from "../accounting/histogram.ts";
import type { HookName } from "../hooks/bridge-hooks.ts";

/**
 * What became of a leg, one delivery to one binding (design of accounting: docs/guarantees.md).
 *
 * What came in equals the sum over all dispositions plus what is in flight and in the outbox. The difference is
 * `unaccounted`, and is 0.
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
 * The counters of one route and binding. `bindingId` is empty for messages that failed before a binding was chosen.
 * `routeId` is empty for the sum of the removed routes, except the last thousand.
 */
export interface LegStats {
  readonly routeId: string;
  readonly bindingId: string;
  /** Legs that came from the source. */
  readonly received: number;
  /** Legs that came from an inject or a redrive. */
  readonly injected: number;
  /** Legs that the outbox held when its store was opened, or that other instances put there and that ended here. */
  readonly recovered: number;
  readonly dispositions: Readonly<Record<Disposition, number>>;
  /** Sends tried. */
  readonly attempts: number;
  readonly inFlight: number;
  /** Legs persisted and not finished. */
  readonly inOutbox: number;
  /** How long each send took, by how it ended: `failed` are those refused or not answered in time. */
  readonly sends: { readonly accepted: HistogramStats; readonly failed: HistogramStats };
  /** From a bridge's receipt of the message until the target accepted it; in `shared_outbox` by wall clocks. */
  readonly endToEnd: HistogramStats;
  /** How long records had been in the outbox when the target accepted them, by wall clocks. */
  readonly outboxAge: HistogramStats;
}

export interface RouteStats {
  readonly routeId: string;
  /** Deliveries that hold a slot. */
  readonly inFlight: number;
  /** Dead-letter writes that failed and are retried. */
  readonly dlqWriteFailures: number;
  /** Outbox writes that failed, of new records and of how records ended; each is retried. */
  readonly outboxWriteFailures: number;
  /** Settlements that failed; the source will redeliver. */
  readonly settleFailures: number;
  /** From taking a delivery until its settlement; only deliveries that were settled. */
  readonly hold: HistogramStats;
}

export interface SessionStats {
  readonly sessionId: string;
  readonly connected: boolean;
  /** Connections made, including the first. */
  readonly connects: number;
  /** Connections lost, and failed attempts to connect. */
  readonly failures: number;
}

/** The lease of an exclusive session, counted by this instance. */
export interface LeaseStats {
  readonly sessionId: string;
  /** How often this instance acquired it. */
  readonly acquisitions: number;
  /** How often it had to step down; a release at a stop does not count. */
  readonly losses: number;
  /**
   * How often it gave the lease up because its session had been disconnected for long, and another instance might do
   * better.
   */
  readonly yields: number;
  /** Renewals that failed and were retried. */
  readonly failures: number;
}

/** What happened to the events of one hook. */
export interface HookStats {
  readonly hook: HookName;
  /** How often the hook was called. */
  readonly calls: number;
  /** Calls that threw, rejected, or were given up. */
  readonly failures: number;
  /** Events dropped because the hook was too slow. */
  readonly lost: number;
}

/** Counters that an adapter keeps. */
export interface PartStats {
  readonly part: "receiver" | "sender" | "session";
  readonly id: string;
  readonly counters: Readonly<Record<string, number>>;
}

/**
 * All counters and gauges at one moment; counters are monotonic across restarts of the runtime. Histograms are read on
 * access, as of then.
 */
export interface BridgeStats {
  readonly legs: readonly LegStats[];
  readonly routes: readonly RouteStats[];
  readonly sessions: readonly SessionStats[];
  readonly leases: readonly LeaseStats[];
  readonly parts: readonly PartStats[];
  /** The hooks that the program has set. */
  readonly hooks: readonly HookStats[];
  readonly redrives: number;
  /** `DLQRedriveFailures` of spec 6. */
  readonly redriveFailures: number;
  /** received + injected + recovered − dispositions − in flight − in outbox: 0 unless the engine has a bug. */
  readonly unaccounted: number;
  /** The jobs of the DLQ. */
  readonly jobs: JobStats;
}
