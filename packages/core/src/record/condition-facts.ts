import type { BridgeView } from "../view/bridge-view.ts";
import type { BridgeStats } from "../view/stats.ts";

export type Severity = "critical" | "warning" | "info";

/** What a rule looks at. */
export interface ConditionFacts {
  readonly view: BridgeView;
  readonly stats: BridgeStats;
  /** What the process tells besides. */
  readonly outside: OutsideFacts;
  /** Whether this counter has grown within so many milliseconds, as far as this process has seen. */
  readonly grown: (key: string, value: number, withinMs: number) => boolean;
  /** What the sends of the last minutes came to, of the bindings that had any. */
  readonly sends: readonly RecentSends[];
  /** How long the oldest record of each place has been in the outbox; looked at once a minute. */
  readonly outboxAges: readonly { readonly routeId: string; readonly bindingId: string; readonly seconds: number }[];
  readonly maxOutboxDepth: (routeId: string) => number | undefined;
  /** The sessions of which one instance holds the lease. */
  readonly exclusive: ReadonlySet<string>;
}

export interface RecentSends {
  readonly routeId: string;
  readonly bindingId: string;
  readonly failedShare: number;
  /** Of accepted sends; absent without any. */
  readonly p99Ms?: number;
}

/** What the engine cannot know of its process. Each is left out where nobody knows it. */
export interface OutsideFacts {
  /** Audit events that did not reach a sink, by its name. */
  readonly auditFailures?: ReadonlyMap<string, number> | undefined;
  /** When certificates of the servers expire, in epoch milliseconds. */
  readonly certificates?: readonly { readonly server: string; readonly expiresAt: number }[] | undefined;
  readonly loopP99Ms?: number | undefined;
  /** Why the newest configuration is not in force, as its source says. */
  readonly configError?: string | undefined;
  /** When the configuration is taken back unless somebody confirms it, in epoch milliseconds; absent while none is on probation. */
  readonly probationEndsAt?: number | undefined;
  /** What another instance has left on probation, in words; absent while none has. */
  readonly probationLeft?: string | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** A rule that is met, at one place. */
export interface Met {
  readonly what: string;
  readonly routeId?: string;
  readonly bindingId?: string;
  readonly sessionId?: string;
}

export interface ConditionRule {
  readonly code: string;
  /** The shipped alert that says the same. */
  readonly alert: string;
  readonly severity: Severity;
  /** How long it has to be met on end. */
  readonly forMs: number;
  /** The number that the alert compares with. */
  readonly threshold?: number;
  readonly runbook: string;
  readonly met: (facts: ConditionFacts) => Iterable<Met>;
}
