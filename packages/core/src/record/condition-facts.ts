import type { BridgeView } from "../view/bridge-view.ts";
import type { BridgeStats } from "../view/stats.ts";

export type Severity = "critical" | "warning" | "info";

/** The facts that rules judge. */
export interface ConditionFacts {
  readonly view: BridgeView;
  readonly stats: BridgeStats;
  /** Facts from outside the engine. */
  readonly outside: OutsideFacts;
  /** Whether the counter has grown within this many milliseconds, as far as this process has seen. */
  readonly grown: (key: string, value: number, withinMs: number) => boolean;
  /** The sends of the last minutes, of the bindings that had any. */
  readonly sends: readonly RecentSends[];
  /** How long the oldest record of each place has been in the outbox; read once a minute. */
  readonly outboxAges: readonly { readonly routeId: string; readonly bindingId: string; readonly seconds: number }[];
  readonly maxOutboxDepth: (routeId: string) => number | undefined;
  /** The exclusive sessions, whose lease one instance holds. */
  readonly exclusive: ReadonlySet<string>;
}

export interface RecentSends {
  readonly routeId: string;
  readonly bindingId: string;
  readonly failedShare: number;
  /** Of accepted sends; absent if there were none. */
  readonly p99Ms?: number;
}

/** What the engine cannot know about its process. Each is absent if unknown. */
export interface OutsideFacts {
  /** Audit events that did not reach a sink, by the sink's name. */
  readonly auditFailures?: ReadonlyMap<string, number> | undefined;
  /** When the servers' certificates expire, in epoch milliseconds. */
  readonly certificates?: readonly { readonly server: string; readonly expiresAt: number }[] | undefined;
  readonly loopP99Ms?: number | undefined;
  /** Why the newest configuration is not in force, according to its source. */
  readonly configError?: string | undefined;
  /** When the configuration is taken back unless it is confirmed, in epoch milliseconds; absent while none is on probation. */
  readonly probationEndsAt?: number | undefined;
  /** What another instance left on probation, in words; absent if nothing. */
  readonly probationLeft?: string | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** A rule that is met in one place. */
export interface Met {
  readonly what: string;
  readonly routeId?: string;
  readonly bindingId?: string;
  readonly sessionId?: string;
}

export interface ConditionRule {
  readonly code: string;
  /** The shipped alert for the same rule. */
  readonly alert: string;
  readonly severity: Severity;
  /** How long it must be met without a break, in milliseconds. */
  readonly forMs: number;
  /** The number that the alert compares against. */
  readonly threshold?: number;
  readonly runbook: string;
  readonly met: (facts: ConditionFacts) => Iterable<Met>;
}
